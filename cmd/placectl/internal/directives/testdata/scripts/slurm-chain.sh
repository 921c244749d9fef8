#!/bin/sh
# After the options that sbatch's manual page describes: behind another job, on idle nodes.
#SBATCH -J chain
#SBATCH -d afterok:4711
#SBATCH -n 3 -c 2
#SBATCH --exclusive
#SBATCH -t 90
#SBATCH --nice=50

srun ./step
