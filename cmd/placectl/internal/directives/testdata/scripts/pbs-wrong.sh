#!/bin/bash
#PBS -I -X
#PBS -l select=1:ncpus=4
#PBS -l nice=5
#PBS -l cput=1:00:00
#PBS -q long@pbs01
#PBS -W stagein=/tmp/in@host:/home/in
#PBS -t 1-10
#PBS -o other:/tmp/out
./a.out
