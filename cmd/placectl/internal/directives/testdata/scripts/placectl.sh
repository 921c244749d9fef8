#!/bin/sh
#placectl 2:ncpus=4:mem=8gb --place scatter
#placectl --name relax --walltime 2h   # two hours
#placectl --after 12 --hold --no-requeue

# MPI over the nodes of the job
mpirun -np 2 ./relax
