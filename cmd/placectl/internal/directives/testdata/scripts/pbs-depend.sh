#PBS -W depend=afterok:1234.pbs01:1235.pbs01,umask=022,group_list=chem
#PBS -a 2200
#PBS -p 500
#PBS -h
./collect
