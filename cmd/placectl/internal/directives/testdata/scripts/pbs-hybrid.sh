#!/bin/sh
#PBS -l select=2:ncpus=36:mpiprocs=4:ompthreads=9+1:ncpus=4
#PBS -l place=scatter,walltime=1:30:00
#PBS -r n
#PBS -S /bin/bash
mpirun -np 9 ./solver
