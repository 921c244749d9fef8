#!/bin/bash
#SBATCH -n 16 -t 60
#PBS -l select=1:ncpus=16
#PBS -l walltime=1:00:00
#placectl --name either
./a.out
