#!/bin/bash
#PBS -N train-gpu
#PBS -P proj17
#PBS -q gpu
#PBS -l ncpus=12
#PBS -l ngpus=1
#PBS -l mem=90gb
#PBS -l walltime=48:00:00
#PBS -W umask=027
#PBS -v EPOCHS=40,NAME="'lr, big'"
python3 train.py
