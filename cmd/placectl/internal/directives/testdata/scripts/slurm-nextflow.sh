#!/bin/bash
#SBATCH -J nf-ALIGN_(sample_1)
#SBATCH -o /scratch/work/3f/a1b2c3/.command.log
#SBATCH --no-requeue
#SBATCH --signal B:USR2@30
#SBATCH -c 8
#SBATCH -t 04:00:00
#SBATCH --mem 16384M
#SBATCH -p short
NXF_CHDIR=/scratch/work/3f/a1b2c3
cd $NXF_CHDIR
bash .command.sh
