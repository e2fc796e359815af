# The image of `lockstep generate k8s`: the static program, and the shell that the manifest's commands need.
#
#     make build && docker build -t lockstep:local .
FROM busybox:1.37
COPY bin/lockstep /bin/lockstep
ENTRYPOINT ["/bin/lockstep"]
