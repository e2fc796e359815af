// Package generate writes the files by which schedulers start a run.
//
// They are a batch script for Slurm, or manifests for Kubernetes with JobSet or the Trainer of Kubeflow.
// [Slurm], [JobSet] and [TrainJob] are pure functions of a [Config], which [Config.Validate] checks. What
// they write resumes a run from its newest checkpoint when the scheduler starts it again. No file holds a
// secret.
package generate
