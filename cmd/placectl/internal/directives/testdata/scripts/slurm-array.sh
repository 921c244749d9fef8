#!/bin/sh
#SBATCH -a 1-1000:10%50
#SBATCH -n 1
#SBATCH -t 45
#SBATCH --mem-per-cpu=3800M
#SBATCH -o out/slurm-%A_%a.out
#SBATCH --tmp=20G

FILE=$(sed -n "${SLURM_ARRAY_TASK_ID}p" files.txt)
./process "$FILE"
