#!/usr/bin/env python3
"""Print what TensorBoard's own reader finds in a folder of event files, one line per value.

    go test ./app/tensorboard -run Golden -keep FOLDER
    app/tensorboard/testdata/read.py FOLDER > app/tensorboard/testdata/golden.txt
"""
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
for tag in sorted(events.Tags()["scalars"]):
    for e in events.Scalars(tag):
        print(f"{tag} {e.step} {e.wall_time:.3f} {e.value:.9g}")
