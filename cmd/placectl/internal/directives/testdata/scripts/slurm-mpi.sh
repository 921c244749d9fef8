#!/bin/bash
#SBATCH -J namd_apoa1
#SBATCH -A chem-prod
#SBATCH -p compute
#SBATCH -N 4
#SBATCH --ntasks-per-node=32
#SBATCH --mem-per-cpu=2000
#SBATCH -t 1-12:00:00
#SBATCH -o %x.%j.out
#SBATCH -e %x.%j.err
#SBATCH --exclusive
#SBATCH --no-requeue

set -euo pipefail
module purge
module load openmpi/4.1 namd
srun --mpi=pmix namd2 apoa1.namd
