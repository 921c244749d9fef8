#!/bin/bash
#SBATCH --job-name=$USER-test
#SBATCH --nodes=2-4
#SBATCH --mem=0
#SBATCH --time=UNLIMITED
#SBATCH --partition=short,long
#SBATCH --gpus-per-socket=1
#SBATCH --ntask-per-node=4
srun ./a.out
