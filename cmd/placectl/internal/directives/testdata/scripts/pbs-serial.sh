#!/bin/bash
#PBS -N hello
#PBS -l select=1:ncpus=1:mem=2gb
#PBS -l walltime=00:10:00
#PBS -j oe
#PBS -o hello.log
#PBS -m abe
#PBS -M ann@site.org

cd "$PBS_O_WORKDIR"
./hello
