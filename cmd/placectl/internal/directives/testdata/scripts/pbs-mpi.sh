#!/bin/bash
### Job name
#PBS -N wrf
### Project code
#PBS -A UABC0001
#PBS -q main
#PBS -l walltime=12:00:00
#PBS -l select=4:ncpus=128:mpiprocs=128:mem=200gb -l place=scatter:excl
#PBS -l job_priority=premium
#PBS -j oe
#PBS -k eod
#PBS -V

module load mpi
mpiexec -n 512 ./wrf.exe
