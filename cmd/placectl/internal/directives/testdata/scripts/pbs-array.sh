#!/bin/bash
#PBS -N sweep
#PBS -J 1-100:5%10
#PBS -l select=1:ncpus=2
#PBS -l walltime=600
#PBS -o logs/sweep.^array_index^.out -e logs/sweep.^array_index^.err
./run "$PBS_ARRAY_INDEX"
