#!/bin/bash
#SBATCH -w node[01-03]
#SBATCH --exclude=node04,node[07-09]
#SBATCH --ntasks-per-node=2
#SBATCH --begin=2026-12-24T18:00:00 --deadline=2026-12-26
#SBATCH --reservation=maint --contiguous -H
./burn-in
