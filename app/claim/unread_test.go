package claim_test

// namedCases are about rows that columns tell apart which no rule reads.
func namedCases() []example {
	const unlabelled = "refused unlabelled rows"
	once := []string{"note one repeat"}
	return []example{
		{"a framework", "model,framework,batch,step ms,speed-up\nresnet,torch,32,210,1\n" +
			"resnet,ours,32,150,1.4\n" +
			"bert,torch,16,430,1\nbert,ours,16,390,1.1\n", once},
		{"one framework twice", "model,framework,step ms\nresnet,torch,210 ± 1\nresnet,torch,150 ± 1\n",
			[]string{unlabelled}},
		{"words behind the figure", "model,step ms,compiler\nresnet,210 ± 1,gcc\n" +
			"resnet,150 ± 1,clang\n", nil},
		{"numbers behind the figure", "model,step ms,bytes\nresnet,210 ± 1,5\nresnet,150 ± 1,6\n",
			[]string{unlabelled}},
		{"rows that two columns tell apart", "model,compiler,topology,step ms\na,gcc,ring,210 ± 1\n" +
			"a,gcc,star,150 ± 1\na,clang,ring,180 ± 1\n", nil},
		{"rows that two columns do not tell apart", "model,compiler,topology,step ms\n" +
			"a,gcc,ring,210 ± 1\n" +
			"a,gcc,ring,150 ± 1\na,clang,star,180 ± 1\n", []string{unlabelled}},
		{"hosts of repeats", "strategy,run,log,step ms\nring,1,a,100\nring,2,b,101\nring,3,c,99\n" +
			"tree,1,d,80\ntree,2,e,81\ntree,3,f,79\n# tree is faster than ring.\n", []string{"holds"}},
		{"trials of runs", "strategy,run,trial,step ms\nring,1,1,100\nring,1,2,101\nring,2,1,99\n" +
			"tree,1,1,80\ntree,1,2,81\ntree,2,1,79\n# tree is faster than ring.\n", []string{"holds"}},
		{"names of optimizers", "optimizer,seed,accuracy\nsgd,1,0.921\nsgd,2,0.923\nadam,1,0.920\n" +
			"adam,2,0.924\n# adam has a higher accuracy than sgd.\n", []string{"refused accuracy"}},
		{"times of optimizers", "strategy,step ms,forward,backward,optimizer\na,20 ± 1,5,10,5\n" +
			"b,30 ± 1,5,10,5\n", []string{"refused phases"}},
		{"names of devices", "model,device,step ms\na,CPU,210 ± 1\na,GPU,150 ± 1\n", nil},
		{"settings that explain accuracies", "method,clients,rounds,local epochs,accuracy %\n" +
			"fedavg,10,100,1,61.2 ± 1\nfedavg,10,100,5,66.0 ± 0.8\nalone,1,-,100,86.4 ± 0.3\n", nil},
		{"one setting and far accuracies", "method,clients,accuracy %\nring,4,61.2 ± 1\n" +
			"alone,4,86.4 ± 0.3\n",
			[]string{"refused unequal work"}},
		{"words for what was measured", "workers,basis of it,epoch s\n1,measured,240 ± 1\n" +
			"64,projected,20 ± 1\n", []string{"note projections"}},
		{"words about something simulated", "model,input,step ms\na,simulated,210 ± 1\n" +
			"a,real,150 ± 1\n", nil},
		{"two columns of algorithms", "strategy,algorithm,step ms\nddp,ring,210 ± 1\n" +
			"ddp,tree,150 ± 1\n", nil},
	}
}

// sweepCases are about rows whose names are numbers.
func sweepCases() []example {
	const unlabelled = "refused unlabelled rows"
	return []example{
		{"sizes of messages", "Message size (KB),step ms\n1,210 ± 1\n4,150 ± 1\n9,90 ± 1\n", nil},
		{"one size twice", "Message size (KB),step ms\n1,210 ± 1\n1,150 ± 1\n" +
			"9,90 ± 1\n", []string{unlabelled}},
		{"cores", "cores,step ms\n1,210 ± 1\n2,150 ± 1\n", nil},
		{"cores of one strategy", "strategy,cores,step ms\nddp,1,210 ± 1\nddp,2,150 ± 1\n", nil},
		{"a sentence about cores", "cores,step ms\n1,210 ± 1\n2,150 ± 1\n" +
			"# 2 cores is 1.4x faster than 1 cores.\n", []string{"holds"}},
		{"Prozesse", "Prozesse;Zeit (s);Speedup;Effizienz\n1;40,2;1,00;100 %\n2;21,0;1,91;96 %\n", nil},
		{"an interval of exchanges", "strategy,interval,step ms\nlocal,1,210 ± 1\nlocal,4,150 ± 1\n", nil},
		{"places of rows", "#;step ms\n1;210 ± 1\n2;150 ± 1\n", []string{unlabelled}},
		{"places of rows that words name", "id,framework,step ms\n1,torch,210 ± 1\n2,ours,150 ± 1\n", nil},
		{"a column without a heading", ",step ms\n1,210 ± 1\n2,150 ± 1\n", []string{unlabelled}},
	}
}

// epochCases are about names and remarks that say how many epochs a time is of.
func epochCases() []example {
	const work = "refused unequal work"
	once := "note one repeat"
	two := func(a, b string) string { return "strategy;time s\n" + a + ";600\n" + b + ";31\n" }
	const faster = "# ddp is 19x faster than single.\n"
	return []example{
		{"a time of an epoch", two("single (10 epochs)", "ddp (per epoch)") + faster, []string{once, work}},
		{"a total and an epoch", two("single, total of 10 epochs", "ddp, per epoch") + faster,
			[]string{once, work}},
		{"unlike epochs beside a speed-up", "strategy;total s;speed-up\nsingle, 10 epochs;600;1\n" +
			"ddp, 1 epoch;31;19.4\n", []string{once, work}},
		{"equal epochs", two("single (10 epochs)", "ddp (10 epochs)") + faster, []string{"holds", once}},
		{"epochs of something else", two("single, warm-up of 5 epochs more",
			"ddp, checkpoint every 10 epochs") +
			faster, []string{"holds", once}},
		{"a remark", "strategy,total s,epochs,note\nsingle,600,10,\nddp,31,,one epoch only\n",
			[]string{once, work}},
		{"a remark on something else", "strategy,total s,epochs,note\nsingle,600,10,\n" +
			"ddp,310,,best loss after 3 epochs\n", []string{once}},
		{"runs of unlike length that nobody compares", "label;total s;accuracy %\n" +
			"lenet, 10 epochs;600;70\n" +
			"lenet, 20 epochs;1200;75\n", []string{once}},
		{"times of an epoch below its heading", "label;epoch s\nsingle (10 epochs);60\n" +
			"ddp (per epoch);31\n" +
			"# ddp is 1.94x faster than single.\n", []string{"holds", once}},
	}
}

// spreadColumnCases are about columns that say how far runs spread.
func spreadColumnCases() []example {
	step := func(header, a, b string) string {
		return "strategy;step ms;" + header + "\nring;94.2;" + a + "\ntree;89.5;" + b +
			"\n# tree is faster than ring.\n"
	}
	holds, close, wrong := []string{"holds"}, []string{"refused winner"}, "refused interval"
	return []example{
		{"95 % CI", step("95 % CI", "93.1–95.0", "88.9–90.2"), holds},
		{"intervals that meet", step("95% CI", "89.1–99.0", "84.9–94.2"), close},
		{"an interval without its figure", step("CI", "83.1–85.0", "88.9–90.2"),
			[]string{"holds", wrong}},
		{"an interval upside down", step("95% confidence interval", "[95.0, 93.1]", "[88.9, 90.2]"),
			[]string{wrong, "refused one repeat"}},
		{"an interval in brackets", step("CI (95 %)", "(93.1, 95.0)", "(88.9, 90.2)"), holds},
		{"with units", step("range", "93.1–95.0 ms", "88.9–90.2 ms"), holds},
		{"in another unit", step("min-max", "0.0931-0.0950 s", "0.0889-0.0902 s"), holds},
		{"half of an interval", step("95% CI", "± 0.4", "± 0.5"), holds},
		{"half of a wide one", step("95% CI", "± 4", "± 5"), close},
		{"IQR", step("IQR", "0.8", "0.7"), holds},
		{"quartiles", step("IQR", "93.1–94.1", "88.9–89.4"), holds},
		{"sigma", step("σ", "0.4", "0.5"), holds},
		{"a wide deviation", step("Std. dev.", "4", "5"), close},
		{"a deviation in percent", step("std (%)", "0.4", "0.5"), holds},
		{"standard errors", step("SEM", "0.2", "0.2"), holds},
		{"one that is not read", step("Error", "0.4", "0.5"), []string{"not checked"}},
		{"numbers too large for a spread", step("bytes", "100", "200"), []string{"note one repeat",
			"refused one repeat"}},
		{"numbers of another unit", step("memory (GB)", "2.1", "2.2"), []string{"note one repeat",
			"refused one repeat"}},
		{"an interval of exchanges behind the figure", step("interval", "10", "20"), []string{"not checked"}},
		{"accuracies in percent", "strategy,accuracy %,95% CI\na,91.2,91.0–91.4\nb,91.6,91.4–91.8\n", nil},
		{"fractions with a spread in percent", "strategy,accuracy\na,0.91 ± 3%\nb,0.92 ± 3%\n# 10 classes.\n",
			nil},
		{"a bar beyond its accuracy", "strategy,accuracy %,95% CI\na,91.2,92.0–93.4\nb,91.6,91.4–91.8\n",
			[]string{wrong}},
	}
}

// growingCases are about weak scaling by samples.
func growingCases() []example {
	const weak = "note unequal work"
	weakly := func(samples, second string) string {
		return "workers,samples,epoch s,weak scaling efficiency\n1,50000,100 ± 0.1,1\n" +
			"2," + samples + ",104 ± 0.1," +
			second + "\n"
	}
	return []example{
		{"samples that grow with the workers", weakly("100000", "0.96"), []string{weak}},
		{"a better efficiency of weak scaling", weakly("100000",
			"0.99"), []string{weak, "refused wrong denominators"}},
		{"samples that grow otherwise", weakly("75000", "0.48"), []string{"refused unequal work"}},
		{"a sentence on it", weakly("100000", "0.96") + "# workers 2 is 1.92x as fast as workers 1.\n",
			[]string{"holds", weak}},
		{"a sentence on the time", weakly("100000",
			"0.96") + "# workers 2 takes 4 % longer than workers 1.\n",
			[]string{"not checked", weak}},
		{"single runs", "workers,samples,epoch s,efficiency\n1,50000,100,1\n2,100000,104,0.96\n",
			[]string{"note one repeat", weak}},
		{"only the heading says so", "workers,epoch s,weak efficiency\n1,100 ± 0.1,1\n" +
			"2,104 ± 0.1,0.96\n", nil},
		{"no heading says so", "workers,epoch s,efficiency\n1,100 ± 0.1,1\n2,104 ± 0.1,0.96\n",
			[]string{"refused wrong denominators"}},
	}
}

// processorCases are about efficiencies of rows whose names say on how many processors they are.
func processorCases() []example {
	const wrong = "refused wrong denominators"
	rows := func(base, other, share string) string {
		return "config,epoch s,speed-up,efficiency\n" + base + ",100 ± 1,1,100 %\n" + other +
			",29 ± 1,3.45," + share + " %\n"
	}
	return []example{
		{"workers in names", rows("1 worker", "4 workers", "86"), nil},
		{"a better efficiency of names", rows("1 worker", "4 workers", "96"), []string{wrong}},
		{"beside a single one", rows("single", "ddp (4 GPUs)", "96"), []string{wrong}},
		{"by samples per second", "setup,images/s,efficiency\n1 GPU,250 ± 1,100%\n4 GPUs,800 ± 1,95%\n",
			[]string{wrong}},
		{"a number that may be anything", rows("zero-1", "zero-4",
			"96"), []string{"note wrong denominators"}},
		{"two numbers", rows("1 node", "8 GPUs on 2 nodes", "96"), []string{"note wrong denominators"}},
		{"numbers of different things", rows("1 node", "4 GPUs",
			"96"), []string{"note wrong denominators"}},
	}
}

// totalCases are about totals with evaluations, and times to a target.
func totalCases() []example {
	const totals = "config,epoch s,total s\n1 GPU,60 ± 0.1,630 ± 0.1\n4 GPUs,17 ± 0.1,198 ± 0.1\n"
	const mixed = "refused total mixed with epoch"
	return []example{
		{"totals that differ", totals, []string{mixed}},
		{"totals with evaluations", totals + "# Total time includes evaluation after each epoch.\n",
			[]string{"not checked"}},
		{"totals without them", totals + "# Total time does not include evaluation.\n",
			[]string{"not checked", mixed}},
		{"time to a target", "system,GPUs,time to train (min)\nA,256,60 ± 1\nB,1024,2.2 ± 0.1\n", nil},
		{"time of a run", "system,GPUs,total min\nA,256,60 ± 1\nB,1024,2.2 ± 0.1\n",
			[]string{"refused above 100 %"}},
	}
}

// wordCases are about short words for projections, and reasons with words of advice.
func wordCases() []example {
	const rows = "strategy,workers,step ms\nps,4,180 ± 1\nring,4,110 ± 1\n# "
	sim := func(word string) string {
		return "workers,epoch s\n1,240 ± 1\n2,126 ± 1\n64 (" + word + "),5 ± 1\n"
	}
	projected := []string{"refused Amdahl", "refused projections"}
	return []example{
		{"simulated", sim("sim."), projected}, {"a model's", sim("model"), projected},
		{"projected", sim("proj."), projected}, {"of another kind", sim("tcp"), nil},
		{"a sweep with a projection", "Prozesse,epoch s\n1,240 ± 1\n2,126 ± 1\n64 (sim.),5 ± 1\n",
			[]string{"refused projections"}},
		{"a model in a name", "strategy,step ms\ntensor (model),180 ± 1\ndata,110 ± 1\n", nil},
		{"use in a reason", rows + "ring is faster than ps because of cache use.\n",
			[]string{"refused cause"}},
		{"use in advice", rows + "Use ring because it is faster.\n", []string{"not checked"}},
		{"advice behind a reason", rows + "Because ring is faster, use it.\n", []string{"not checked"}},
	}
}
