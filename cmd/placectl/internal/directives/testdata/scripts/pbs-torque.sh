#!/bin/bash
#PBS -N blast
#PBS -l nodes=2:ppn=8:ib,walltime=24:00:00
#PBS -l mem=32gb
#PBS -q batch
#PBS -e blast.err
#PBS -o blast.out
cd $PBS_O_WORKDIR
mpirun -machinefile $PBS_NODEFILE blast
