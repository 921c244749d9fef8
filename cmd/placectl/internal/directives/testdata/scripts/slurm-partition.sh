#!/bin/bash -l
# After the pattern of GRNET's pages on ARIS: whole nodes of a partition, an account.
#SBATCH --job-name=test
#SBATCH --output=test.%j.out
#SBATCH --error=test.%j.err
#SBATCH --ntasks=40
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=20
#SBATCH --cpus-per-task=1
#SBATCH --mem=56G
#SBATCH --time=02:00:00
#SBATCH --partition=compute
#SBATCH --account=pr001

srun ./test
