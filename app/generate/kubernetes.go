package generate

import (
	"fmt"
	"strings"
)

// JobSet returns a JobSet (jobset.x-k8s.io/v1alpha2) with one pod for each host. A failed pod starts all of
// them again, unless its exit status says that it would fail again.
func JobSet(c Config) string {
	address := fmt.Sprintf("%s-worker-0-0.%s", c.Name, c.Name)
	run := fmt.Sprintf("lockstep run --nnodes %d --nproc-per-node %d --master-addr %s --rdzv-id %s", c.Hosts,
		c.Workers, address, c.Name)
	y := yaml{}
	y.head(c)
	y.line(0, "apiVersion: jobset.x-k8s.io/v1alpha2")
	y.line(0, "kind: JobSet")
	y.line(0, "metadata:")
	y.line(1, "name: %q", c.Name)
	y.line(0, "spec:")
	y.line(1, "network:")
	y.line(2, "enableDNSHostnames: true")
	y.line(2, "publishNotReadyAddresses: true")
	y.line(2, "subdomain: %q", c.Name)
	y.line(1, "failurePolicy:")
	y.line(2, "maxRestarts: %d", c.Restarts)
	y.line(2, "rules:")
	y.line(2, "- name: wouldFailAgain")
	y.line(3, "action: FailJobSet")
	y.line(3, "onJobFailureReasons: [PodFailurePolicy]")
	y.line(1, "replicatedJobs:")
	y.line(1, "- name: worker")
	y.line(2, "replicas: 1")
	y.line(2, "template:")
	y.line(3, "spec:")
	y.line(4, "completionMode: Indexed")
	y.line(4, "completions: %d", c.Hosts)
	y.line(4, "parallelism: %d", c.Hosts)
	y.line(4, "backoffLimit: 0")
	y.failures(4, "lockstep")
	y.line(4, "template:")
	y.line(5, "spec:")
	y.pod(6, c, "lockstep")
	y.line(7, "image: %q", c.Image)
	y.line(7, "workingDir: %q", c.Runs)
	y.line(7, "command: [/bin/sh, -c]")
	y.script(7, "args", c, run)
	y.environment(7, c)
	y.resources(7, "resources", c)
	y.mounts(7, c)
	return y.String()
}

// TrainJob returns a TrainingRuntime and a TrainJob that uses it (trainer.kubeflow.org/v1alpha1). Kubeflow
// tells each pod its place by PET_ variables, which `lockstep run` reads.
func TrainJob(c Config) string {
	y := yaml{}
	y.head(c)
	y.trainingRuntime(c)
	y.line(0, "---")
	y.trainJob(c)
	return y.String()
}

// trainingRuntime writes how pods are started, one for each host.
func (y *yaml) trainingRuntime(c Config) {
	y.line(0, "apiVersion: trainer.kubeflow.org/v1alpha1")
	y.line(0, "kind: TrainingRuntime")
	y.line(0, "metadata:")
	y.line(1, "name: %q", c.Name)
	y.line(0, "spec:")
	y.line(1, "mlPolicy:")
	y.line(2, "numNodes: %d", c.Hosts)
	y.line(2, "torch:")
	y.line(3, "numProcPerNode: %d", c.Workers)
	y.line(1, "template:")
	y.line(2, "spec:")
	y.line(3, "network:")
	y.line(4, "publishNotReadyAddresses: true")
	y.line(3, "failurePolicy:")
	y.line(4, "maxRestarts: %d", c.Restarts)
	y.line(4, "rules:")
	y.line(4, "- name: wouldFailAgain")
	y.line(5, "action: FailJobSet")
	y.line(5, "onJobFailureReasons: [PodFailurePolicy]")
	y.line(3, "replicatedJobs:")
	y.line(3, "- name: node")
	y.line(4, "template:")
	y.line(5, "metadata:")
	y.line(6, "labels:")
	y.line(7, "trainer.kubeflow.org/trainjob-ancestor-step: trainer")
	y.line(5, "spec:")
	y.line(6, "backoffLimit: 0")
	y.failures(6, "node")
	y.line(6, "template:")
	y.line(7, "spec:")
	y.pod(8, c, "node")
	y.line(9, "image: %q", c.Image)
	y.line(9, "workingDir: %q", c.Runs)
	y.mounts(9, c)
}

// trainJob writes what is run in the pods of the runtime.
func (y *yaml) trainJob(c Config) {
	y.line(0, "apiVersion: trainer.kubeflow.org/v1alpha1")
	y.line(0, "kind: TrainJob")
	y.line(0, "metadata:")
	y.line(1, "name: %q", c.Name)
	y.line(0, "spec:")
	y.line(1, "runtimeRef:")
	y.line(2, "apiGroup: trainer.kubeflow.org")
	y.line(2, "kind: TrainingRuntime")
	y.line(2, "name: %q", c.Name)
	y.line(1, "trainer:")
	y.line(2, "image: %q", c.Image)
	y.line(2, "numNodes: %d", c.Hosts)
	y.line(2, "numProcPerNode: %d", c.Workers)
	y.line(2, "command: [/bin/sh, -c]")
	y.script(2, "args", c, "lockstep run")
	y.environment(2, c)
	y.resources(2, "resourcesPerNode", c)
}

// yaml writes lines of a manifest. What the caller names is quoted: a claim may be called yes, or 1e3.
type yaml struct{ strings.Builder }

// line writes a line, indented by two spaces a level.
func (y *yaml) line(level int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(y, "%s%s\n", strings.Repeat("  ", level), text)
}

// head begins a manifest. It says how to create the secret of a run on several hosts.
func (y *yaml) head(c Config) {
	if c.Claim != "" {
		y.line(0, "# The job goes on with the newest run of its name in %s.", c.Runs)
	} else {
		y.line(0, "# Runs are lost with their pods, and begin anew in others: --claim keeps them.")
	}
	if c.Data == "" {
		y.line(0, "# No data set is mounted, and generated ones need none: --data names a claim or folder.")
	}
	if c.Image == Image {
		y.line(0, "# The image: make build && docker build -t %s . in the source, then push it; for kind,",
			c.Image)
		y.line(0, "#   kind load docker-image %s", c.Image)
	}
	if c.Hosts > 1 {
		y.line(0, "# Before, within a day: lockstep token | tr -d '\\n' |")
		y.line(0, "#   kubectl create secret generic %s-token --from-file=token=/dev/stdin", c.Name)
	}
}

// failures writes which exit statuses end the job: a wrong flag, damaged data, a loss that is no number, a
// target that was missed. The rest is worth another try.
func (y *yaml) failures(level int, container string) {
	y.line(level, "podFailurePolicy:")
	y.line(level+1, "rules:")
	y.line(level+1, "- action: FailJob")
	y.line(level+2, "onExitCodes:")
	y.line(level+3, "containerName: %s", container)
	y.line(level+3, "operator: In")
	y.line(level+3, "values: [2, 3, 7, 8]")
}

// pod writes a pod up to the name of its container. The pod has c.Grace to save a checkpoint when it is
// asked to end.
func (y *yaml) pod(level int, c Config, container string) {
	y.line(level, "restartPolicy: Never")
	y.line(level, "terminationGracePeriodSeconds: %d", int(c.Grace.Seconds()))
	y.line(level, "volumes:")
	y.line(level, "- name: runs")
	if c.Claim != "" {
		y.line(level+1, "persistentVolumeClaim:")
		y.line(level+2, "claimName: %q", c.Claim)
	} else {
		y.line(level+1, "emptyDir: {}")
	}
	if c.Data != "" {
		y.line(level, "- name: data")
	}
	if strings.HasPrefix(c.Data, "/") {
		y.line(level+1, "hostPath:")
		y.line(level+2, "path: %q", c.Data)
	} else if c.Data != "" {
		y.line(level+1, "persistentVolumeClaim:")
		y.line(level+2, "claimName: %q", c.Data)
		y.line(level+2, "readOnly: true")
	}
	y.line(level, "containers:")
	y.line(level, "- name: %s", container)
}

// script writes the shell commands that go on with a run, or begin it.
func (y *yaml) script(level int, key string, c Config, run string) {
	y.line(level, "%s:", key)
	y.line(level, "- |")
	y.line(level+1, `last=$(ls -dt %s-*/checkpoints/step-* 2>/dev/null | head -n 1)`, c.Name)
	y.line(level+1, `if [ -n "$last" ]; then`)
	y.line(level+1, `  exec %s train --resume "${last%%/checkpoints/*}"`, run)
	y.line(level+1, `fi`)
	y.line(level+1, `out=%s-$(date +%%Y%%m%%d-%%H%%M%%S)`, c.Name)
	y.line(level+1, `exec %s %s`, run, c.begin())
}

// dataFolder is where pods have data sets.
const dataFolder = "/data"

// environment writes where data sets are, and the secret of several hosts.
func (y *yaml) environment(level int, c Config) {
	if c.Data != "" || c.Hosts > 1 {
		y.line(level, "env:")
	}
	if c.Data != "" {
		y.line(level, "- name: LOCKSTEP_DATA")
		y.line(level+1, "value: %s", dataFolder)
	}
	if c.Hosts == 1 {
		return
	}
	y.line(level, "- name: LOCKSTEP_TOKEN")
	y.line(level+1, "valueFrom:")
	y.line(level+2, "secretKeyRef:")
	y.line(level+3, "name: %s-token", c.Name)
	y.line(level+3, "key: token")
}

// resources writes what a host needs.
func (y *yaml) resources(level int, key string, c Config) {
	y.line(level, "%s:", key)
	for _, kind := range []string{"requests", "limits"} {
		y.line(level+1, "%s:", kind)
		y.line(level+2, "cpu: %d", c.Workers*c.Cores)
		if c.Memory != "" {
			y.line(level+2, "memory: %s", c.Memory)
		}
	}
}

// mounts writes where the volumes are.
func (y *yaml) mounts(level int, c Config) {
	y.line(level, "volumeMounts:")
	y.line(level, "- name: runs")
	y.line(level+1, "mountPath: %q", c.Runs)
	if c.Data != "" {
		y.line(level, "- name: data")
		y.line(level+1, "mountPath: %s", dataFolder)
		y.line(level+1, "readOnly: true")
	}
}
