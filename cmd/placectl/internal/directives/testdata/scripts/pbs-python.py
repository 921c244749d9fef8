#!/usr/bin/env python3
#PBS -N analyse
#PBS -l select=1:ncpus=4:mem=16gb
#PBS -l walltime=2:00:00
# -*- coding: utf-8 -*-

import numpy as np

print(np.pi)
