#SBATCH --time=10
./run.x
