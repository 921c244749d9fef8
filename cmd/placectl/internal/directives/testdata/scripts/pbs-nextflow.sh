#!/bin/bash
#PBS -N nf-ALIGN
#PBS -o /scratch/work/3f/a1b2c3/.command.log
#PBS -j oe
#PBS -q short
#PBS -l select=1:ncpus=8:mem=16384mb
#PBS -l walltime=04:00:00
NXF_CHDIR=/scratch/work/3f/a1b2c3
cd $NXF_CHDIR
bash .command.sh
