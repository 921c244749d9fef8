#!/bin/bash
# After the pattern of LRZ's page on the batch system of HLRB-II: tasks of two threads each.
#PBS -l select=8:ncpus=2
#PBS -l walltime=00:10:00
#PBS -v DISPLAY=:0
#PBS -j oe
#PBS -m abe -M ann@site.org

cd "$PBS_O_WORKDIR"
mpiexec ./solve
