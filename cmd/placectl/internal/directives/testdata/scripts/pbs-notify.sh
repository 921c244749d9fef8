#!/bin/sh
# After the options that qsub's manual page describes: held, mailed, late.
#PBS -N notify
#PBS -a 2330
#PBS -h
#PBS -p 10
#PBS -l ncpus=4,mem=2gb,walltime=20:00
#PBS -m ae

./report
