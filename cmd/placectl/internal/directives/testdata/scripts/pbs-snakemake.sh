#!/bin/sh
# properties = {"type": "single", "rule": "call", "threads": 4, "resources": {"mem_mb": 8000}}
#PBS -N snakejob.call
#PBS -l select=1:ncpus=4:mem=8000mb,walltime=1:00:00
#PBS -V -j oe
cd /data/project && snakemake call --cores 4
