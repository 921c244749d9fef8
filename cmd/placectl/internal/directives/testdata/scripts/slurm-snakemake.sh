#!/bin/sh
# properties = {"type": "single", "rule": "map_reads", "local": false, "input": ["a.fq"], "output": ["a.bam"], "threads": 8}
#SBATCH --parsable
#SBATCH --job-name 2d9c8f
#SBATCH --output .snakemake/slurm_logs/rule_map_reads/%j.log
#SBATCH --export=ALL
#SBATCH --ntasks=1 --cpus-per-task=8 --mem=16000 -t 120
cd /data/project && \
snakemake --snakefile Snakefile a.bam --cores 8
