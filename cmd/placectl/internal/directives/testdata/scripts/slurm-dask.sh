#!/usr/bin/env bash

#SBATCH -J dask-worker
#SBATCH -e /home/ann/logs/dask-worker-%J.err
#SBATCH -o /home/ann/logs/dask-worker-%J.out
#SBATCH -p regular
#SBATCH -A myproject
#SBATCH -n 1
#SBATCH -N 1
#SBATCH --cpus-per-task=4
#SBATCH --mem=15G
#SBATCH -t 00:30:00

/opt/conda/bin/python -m distributed.cli.dask_worker tcp://10.0.0.1:40000 --nthreads 4
