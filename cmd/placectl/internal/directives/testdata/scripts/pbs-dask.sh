#!/usr/bin/env bash

#PBS -N dask-worker
#PBS -q regular
#PBS -A myproject
#PBS -l select=1:ncpus=2:mem=954MB
#PBS -l walltime=00:10:00
#PBS -e logs/
#PBS -o logs/

/opt/conda/bin/python -m distributed.cli.dask_worker tcp://10.0.0.1:40000
