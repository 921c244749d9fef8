#!/bin/bash -l
#
# MPI + OpenMP: 8 ranks of 6 threads on 2 nodes
#
#SBATCH --nodes=2
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=6
#SBATCH --constraint=skylake&ib
#SBATCH --time=6:00:00
#SBATCH --partition=long
#SBATCH --hint=nomultithread
#SBATCH --signal=B:USR1@300

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
trap 'touch STOP' USR1
srun ./lulesh -s 60 &
wait
