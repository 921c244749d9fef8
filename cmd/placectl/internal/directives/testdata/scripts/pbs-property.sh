#!/bin/sh
# After the pattern of the CNM wiki of Argonne on selecting nodes: nodes of a generation.
#PBS -N foo
#PBS -l nodes=2:ppn=8:gen2
#PBS -l walltime=1:00:00
#PBS -r n

cat "$PBS_NODEFILE"
