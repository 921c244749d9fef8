#!/bin/bash
#SBATCH --array=1,5,9-12,40
#SBATCH --dependency=afterok:4711:4712,afterany:4713_2
#SBATCH --nice
./redo.sh "$SLURM_ARRAY_TASK_ID"
