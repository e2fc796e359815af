// Package foreign reads the variables by which other launchers number their processes.
//
// Those are torchrun, Slurm, Open MPI, other MPI, PMI and PMIx launchers, Kubeflow, and indexed jobs of
// Kubernetes.
//
// [Place] says which process of a job this one is, and [CheckAlone] refuses to be one of several. [Node] is a
// host on which processes are started as torchrun would. All are functions of an environment; errors are
// *cluster.EnvironmentError and name the variables.
package foreign
