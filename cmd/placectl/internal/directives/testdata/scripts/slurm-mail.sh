#!/bin/bash
# After the pattern of Sheffield's pages on Stanage: one task, mail at its end.
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem-per-cpu=4G
#SBATCH --time=0-08:00
#SBATCH --mail-type=END,FAIL
#SBATCH --mail-user=ann@site.org
#SBATCH --signal=B:USR1@120

python fit.py
