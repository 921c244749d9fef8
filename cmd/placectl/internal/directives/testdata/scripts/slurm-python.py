#!/usr/bin/env python3
#SBATCH --job-name="sweep lr"
#SBATCH -c 4
#SBATCH --mem=8000
#SBATCH -t 3:30:00
#SBATCH -L matlab:1,fluent:2
"""Sweeps the learning rate."""
#SBATCH --array=0-9
import os

print(os.environ["SLURM_JOB_ID"])
