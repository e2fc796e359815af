package claim_test

import "slices"

// example is a document and what is to be said about it: "refused" or "note" with the rule of each objection,
// and "holds" or "not checked" for each sentence that is not refused.
type example struct {
	name, text string
	want       []string
}

// paired is a table of two strategies in six rounds of a drifting machine; ddp is always 10 % faster.
const paired = `strategy,workers,repeat,step ms
all-reduce,2,1,10.0
ddp,2,1,9.1
all-reduce,2,2,12.1
ddp,2,2,11.0
all-reduce,2,3,10.4
ddp,2,3,9.4
all-reduce,2,4,13.0
ddp,2,4,11.8
all-reduce,2,5,10.2
ddp,2,5,9.3
all-reduce,2,6,11.1
ddp,2,6,10.1
`

// tied is the same of two strategies that differ by chance.
const tied = `strategy,workers,repeat,step ms
all-reduce,2,1,10.0
ddp,2,1,10.1
all-reduce,2,2,12.1
ddp,2,2,11.9
all-reduce,2,3,10.4
ddp,2,3,10.5
all-reduce,2,4,13.0
ddp,2,4,12.8
all-reduce,2,5,10.2
ddp,2,5,10.1
all-reduce,2,6,11.1
ddp,2,6,11.2
`

// percents is a table of a step that is 45 % shorter, by a speed that is 82 % higher.
const percents = "strategy,workers,total s\nsingle,1,20 ± 0.1\nddp,2,11 ± 0.1\n# "

// seeds is a table of accuracies with five seeds of each row.
const seeds = `strategy,seed,accuracy %
exact,1,91.2
exact,2,91.5
exact,3,91.1
exact,4,91.4
exact,5,91.3
int8,1,91.3
int8,2,91.2
int8,3,91.4
int8,4,91.2
int8,5,91.4
top-k,1,88.2
top-k,2,88.9
top-k,3,88.4
top-k,4,88.1
top-k,5,88.8
`

const said = "\n# "

func cases() []example {
	return slices.Concat(workCases(), scalingCases(), evidenceCases(), formCases(), spreadCases(),
		hiddenCases(), unitCases(), partCases(), weakCases(), guessedCases(), attackCases(),
		mendedCases(), spreadColumnCases(), namedCases(), sweepCases(), epochCases(), growingCases(),
		processorCases(), totalCases(), wordCases(), hashCases())
}

// spreadCases are about what a deviation or a share says of a figure.
func spreadCases() []example {
	return []example{
		// 4.3 and not 2 standard errors: 6.76 to 9.24 against 8.76 to 11.24
		{"a deviation of three runs", "strategy,step s,std,runs\nsingle,10,0.5,3\nddp,8,0.5,3\n" +
			"# ddp is the fastest.\n", []string{"refused winner"}},
		{"a deviation of thirty runs", "strategy,step s,std,runs\nsingle,10,0.5,30\nddp,8,0.5,30\n" +
			"# ddp is the fastest.\n", []string{"holds"}},
		{"a spread in percent", "strategy,step s\nsingle,0.5 ± 3%\nddp,0.4 ± 3%\n# ddp is the fastest.\n",
			[]string{"holds"}},
		{"a spread in points", "strategy,step s,accuracy %\nsingle,5 ± 0.1,90 ± 3%\nddp,4 ± 0.1,91 ± 3%\n" +
			"# ddp is the fastest.\n", []string{"holds"}},
	}
}

// workCases are about labels, equal work, ranks and denominators.
func workCases() []example {
	return []example{
		{"labelled rows", "strategy,workers,step ms\nsingle,1,20 ± 0.2\nddp,2,11 ± 0.2\n", nil},
		{"rows of one label", "label,step ms\nresnet,20 ± 1\nresnet,11 ± 1\n",
			[]string{"refused unlabelled rows"}},
		{"numbers for names", "label,total s\n1,20 ± 1\n2,11 ± 1\n", []string{"refused unlabelled rows"}},
		{"no name at all", "epoch s,loss\n20 ± 1,0.5\n11 ± 1,0.4\n", []string{"refused unlabelled rows"}},
		{"numbers that are settings", "workers,total s\n1,20 ± 1\n2,11 ± 1\n", nil},
		{"repeats of a row", "label,run,step s\na,1,2.0\na,2,2.1\nb,1,3.0\nb,2,3.1\n", nil},
		{"one repeat twice", "label,run,step s\na,1,2.0\na,1,2.1\nb,1,3.0\nb,2,3.1\n",
			[]string{"refused unlabelled rows"}},

		{"workers below one", "strategy,workers,step ms\nsingle,1,20 ± 1\nddp,-1,11 ± 1\n",
			[]string{"refused out of range"}},
		{"half a worker", "strategy,workers,step ms\nsingle,1,20 ± 1\nddp,2.5,11 ± 1\n",
			[]string{"refused out of range"}},
		{"workers beyond all numbers",
			"strategy,workers,step ms\nsingle,1,20 ± 1\nddp,99999999999999999999,11 ± 1\n",
			[]string{"refused out of range"}},
		{"a negative rate", "label,samples/s\na,100 ± 1\nb,-5 ± 1\n", []string{"refused out of range"}},
		{"a negative time", "label,step ms\na,10 ± 1\nb,-5 ± 1\n", []string{"refused out of range"}},
		{"a negative loss", "label,step ms,loss\na,10 ± 1,-1.2\nb,15 ± 1,-1.1\n", nil},
		{"a rate that is none", "label,samples/s\na,100 ± 1\nb,NaN\n", nil},
		{"half a core", "label,workers,cores,step ms\na,1,0.5,10 ± 1\nb,1,1,6 ± 1\n", nil},

		{"equal samples", "workers,samples,total s,speed-up\n1,50000,100 ± 1,1\n2,50000,52 ± 1,1.92\n", nil},
		{"a dropped rest of a batch",
			"workers,samples,total s,speed-up\n1,50000,100 ± 1,1\n2,49920,52 ± 1,1.92\n", nil},
		{"half the samples", "workers,samples,total s,speed-up\n1,50000,100 ± 1,1\n2,25000,26 ± 1,3.85\n",
			[]string{"refused unequal work", "refused above 100 %"}},
		{"fewer epochs", "workers,epochs,total s\n1,10,100 ± 1\n2,8,42 ± 1\n",
			[]string{"refused unequal work"}},
		{"one batch", "workers,batch,step ms\n1,64,20 ± 1\n2,2 x 32,11 ± 1\n4,4 x 16,7 ± 1\n", nil},
		{"a batch that does not divide", "workers,batch,step ms\n1,64,20 ± 1\n3,3 x 21,8 ± 1\n",
			[]string{"refused unequal work"}},
		{"weak scaling that is named",
			"workers,batch per worker,samples/s\n1,32,100 ± 1\n2,32,190 ± 1\n4,32,370 ± 2\n",
			[]string{"note unequal work"}},
		{"a sweep over batches", "workers,batch,epoch s\n1,32,30 ± 1\n1,64,24 ± 1\n1,256,18 ± 1\n", nil},
		{"steps of another batch",
			"strategy,workers,steps,batch,total s\nsingle,1,100,64,20 ± 1\nddp,2,100,128,21 ± 1\n",
			[]string{"refused unequal work", "note unequal work"}},
		{"accuracies far apart", "workers,total s,accuracy %\n1,3283 ± 9,60.6\n2,1893 ± 9,36.4\n",
			[]string{"refused unequal work"}},
		{"accuracies explained by epochs",
			"workers,epochs,epoch s,accuracy %\n1,10,328 ± 1,60.6\n2,5,170 ± 1,36.4\n", nil},
		{"accuracies of an ablation",
			"label,epoch s,accuracy %\nplain,30 ± 1,62\nwith augmentation,31 ± 1,81\n", nil},

		{"total and epoch agree",
			"workers,total s,epoch s,speed-up\n1,1010 ± 5,100 ± 1,1\n2,560 ± 5,55 ± 1,1.81\n", nil},
		{"total mixed with epoch",
			"workers,total s,epoch s,speed-up\n1,1130 ± 5,100 ± 1,1\n2,560 ± 5,56 ± 1,1.79\n",
			[]string{"refused total mixed with epoch"}},
		{"epochs that are not there",
			"workers,epochs,total s,epoch s\n1,10,500 ± 5,100 ± 1\n2,10,280 ± 5,56 ± 1\n",
			[]string{"refused total mixed with epoch"}},
		{"total with evaluations",
			"workers,epochs,total s,epoch s\n1,10,1100 ± 5,100 ± 1\n2,10,620 ± 5,56 ± 1\n", nil},

		{"ranks agree", "strategy,rank,step ms\nddp,0,100.1\nddp,1,100.4\nddp,2,99.8\n", nil},
		{"ranks disagree", "strategy,rank,step ms\nddp,0,95\nddp,1,150\nddp,2,150\n",
			[]string{"refused ranks disagree"}},
		{"ranks that do not wait", "strategy,rank,step ms\nps-async,0,95\nps-async,1,150\n", nil},
		{"ranks of an asynchronous label", "label,rank,step ms\nasync SGD,0,95\nasync SGD,1,150\n", nil},
		{"ranks side by side", "strategy,nodes,rank 0 s/iteration,ranks 1-3\nring,4,0.95,1.51\n",
			[]string{"refused ranks disagree"}},

		{"phases add up", "label,epoch s,forward,backward,optimizer,data\nbase,100 ± 1,35,45,15,5\n", nil},
		{"phases miss a fifth", "label,epoch s,forward,backward,optimizer,data\nbase,100 ± 1,35,35,5,5\n",
			[]string{"refused phases"}},
		{"shares add up", "label,step ms,forward %,backward %,sync %,other %\nddp,10 ± 1,30,50,15,5\n", nil},
		{"shares of more than all",
			"label,step ms,forward %,backward %,sync %,other %\nddp,10 ± 1,40,60,15,5\n",
			[]string{"refused phases"}},
		{"samples per second", "label,batch,step ms,samples/s\na,64,20 ± 0.1,3200\n", nil},
		{"a step and its rate copied from a report", "row,batch,runs,step ms,samples/s\n" +
			"single 1×1,64,3,3.30,19402\nsingle 1×2,64,3,1.98,32369\n", nil},
		{"the same with rates of mean steps", "row,batch,runs,step ms,samples/s\n" +
			"single 1×1,64,3,3.30,18677\nsingle 1×2,64,3,1.98,28997\n",
			[]string{"refused wrong denominators"}},
		{"samples per second of a whole run", "label,workers,samples,total seconds,samples/s\n" +
			"a,1,6400,10,700\nb,2,6400,5,640\n", []string{"note one repeat"}},
		{"samples per second slower than the run", "label,workers,samples,total seconds,samples/s\n" +
			"a,1,6400,10,640\nb,2,6400,5,400\n", []string{"note one repeat", "refused wrong denominators"}},
		{"samples per second without a column of workers", "label,samples,total seconds,samples/s\n" +
			"a,6400,10,64\n", []string{"refused wrong denominators"}},
		{"samples per second that give the run", "label,samples,total seconds,samples/s\n" +
			"a,6400,10,700\n", nil},
		{"samples per second of workers of each node", "label,nodes,processes per node,samples,total s," +
			"samples/s\na,2,4,6400,10,80\n", nil},
		{"samples per second of each of some workers", "label,samples,total s,throughput per GPU\n" +
			"a,6400,10,80\n", nil},
		{"steps per second", "label,samples,total s,throughput (steps/s)\na,6400,10,10\n", nil},
		{"samples per second beside seconds in cells", "label,workers,samples,total time,samples/s\n" +
			"a,1,6400,10 s,64\n", []string{"refused wrong denominators"}},
		{"samples per second beside times in words", "label,workers,samples,total time,samples/s\n" +
			"a,1,6400,1m 30s,40\n", []string{"refused wrong denominators"}},
		{"samples per second that times in words give", "label,workers,samples,total time,samples/s\n" +
			"a,1,6400,1m 30s,72\n", nil},
		{"samples per second of minutes", "label,workers,samples,total time,samples/s\n" +
			"a,1,384000,10,640\nb,2,384000,5,1280\n", []string{"note one repeat"}},
		{"whole seconds of an epoch", "label,workers,epochs,total seconds,epoch seconds\n" +
			"a,1,10,100,10\nb,2,10,60,12\n", []string{"note one repeat", "refused total mixed with epoch"}},
		{"samples per second of one worker", "label,batch,step ms,samples/s\na,64,20 ± 0.1,1600\n",
			[]string{"refused wrong denominators"}},
		{"a rate of skewed steps",
			"label,batch,step ms,\"p10–p90, ms\",samples/s\na,64,20 ± 0.1,15–60,1600\n", nil},
		{"a speed-up beyond the intervals of its times", "workers,runs,step ms,speed-up\n1,6,100 ± 2,1\n" +
			"2,6,56 ± 1,1.95\n", []string{"refused wrong denominators"}},
		{"speed-ups by round", "workers,runs,step ms,spread of runs,speed-up of the step\n1,6,100,20 %,1\n" +
			"2,6,60,30 %,1.45 (1.2–1.7)\n", nil},
		{"an efficiency that may be 100 %", "workers,step ms,speed-up,efficiency %\n1,100 ± 1,1,100\n" +
			"2,45 ± 9,2.2 (1.8–2.7),110 (90–135)\n", []string{"note above 100 %"}},
		{"a mean among its losses", "label,loss at 20,loss at 40,average loss\na,2.0,1.5,1.9\n", nil},
		{"a mean below its losses", "label,loss at 20,loss at 40,average loss\na,3.8,2.7,0.99\n",
			[]string{"refused wrong denominators"}},
		{"cost", "devices,total s,price/h,cost $\n1,2469.67 ± 5,1.50,1.03\n2,1224 ± 5,1.50,1.02\n", nil},
		{"cost of one device",
			"devices,total s,price/h,cost $\n1,2469.67 ± 5,1.50,1.03\n2,1224 ± 5,1.50,0.51\n",
			[]string{"refused wrong denominators"}},
	}
}

// scalingCases are about speed-ups, efficiencies, serial fractions, cores and projections.
func scalingCases() []example {
	return []example{
		{"speed-ups", "workers,step ms,speed-up,efficiency\n1,100 ± 1,1,100 %\n2,56 ± 1,1.79,89 %\n4,33 ± " +
			"1,3.03,76 %\n", nil},
		{"a speed-up of something else", "workers,step ms,speed-up\n1,100 ± 1,1\n2,56 ± 1,1.95\n",
			[]string{"refused wrong denominators"}},
		{"efficiency by half the workers",
			"workers,step ms,speed-up,efficiency %\n1,100 ± 1,1,100\n4,33 ± 1,3.03,95\n",
			[]string{"refused wrong denominators"}},
		{"speed-up over two workers",
			"workers,step ms,speed-up,efficiency %\n2,100 ± 1,1,100\n8,33 ± 1,3.03,75.8\n", nil},
		{"threads count as processors",
			"workers,threads,step ms,speed-up,efficiency %\n1,1,100 ± 1,1,100\n2,2,30 ± 1,3.33,83.3\n", nil},
		{"Amdahl's law", "workers,Amdahl (95 % parallel)\n1,1\n2,1.90\n4,3.48\n8,5.93\n16,9.14\n", nil},
		{"not Amdahl's law", "workers,Amdahl (95 % parallel)\n2,1.90\n4,3.48\n8,6.15\n16,10.4\n",
			[]string{"refused Amdahl"}},
		{"Gustafson's law", "workers,Gustafson (5 % serial)\n2,1.95\n4,3.85\n8,7.65\n", nil},
		{"not Gustafson's law", "workers,Gustafson (5 % serial)\n2,1.95\n4,3.85\n8,5.93\n",
			[]string{"refused Amdahl"}},
		{"projections above the limit",
			"workers,source,speed-up\n1,measured,1\n2,measured,1.78 ± 0.02\n8,projected,5.98\n",
			[]string{"refused Amdahl", "note projections"}},
		{"projections below the limit",
			"workers,source,speed-up\n1,measured,1\n2,measured,1.78 ± 0.02\n8,projected,4.2\n",
			[]string{"note projections"}},
		{"measured above an earlier limit",
			"workers,step ms,speed-up\n1,100 ± 1,1\n2,60 ± 1,1.67\n8,14 ± 1,7.14\n", nil},
		{"projections among measurements",
			"label,workers,step ms\nsingle,1,100 ± 1\nddp,2,56 ± 1\nddp (projected),8,25\n",
			[]string{"refused projections"}},
		{"a table of projections", "# Predicted times of ddp\nworkers,step ms\n16,9\n32,6\n",
			[]string{"not checked"}},
		{"predictions that came true to the digit",
			"workers,step ms,speed-up,predicted speed-up\n1,100 ± 1,1,1\n2,56 ± 1,1.79,1.79\n4,33 ± " +
				"1,3.03,3.03\n",
			[]string{"refused projections"}},
		{"predictions beside measurements",
			"workers,step ms,speed-up,predicted speed-up\n1,100 ± 1,1,1\n2,56 ± 1,1.79,1.75\n4,33 ± " +
				"1,3.03,2.8\n", nil},
		{"above 100 %", "workers,step ms,speed-up,efficiency %\n1,100 ± 1,1,100\n2,45 ± 1,2.22,111\n",
			[]string{"refused above 100 %"}},
		{"above 100 % with a reason",
			"workers,step ms,speed-up,efficiency %,remark\n1,100 ± 1,1,100,\n2,45 ± 1,2.22,111,half of it " +
				"fits the L2 cache\n",
			[]string{"note above 100 %"}},
		{"cores enough", "workers,threads,host cores,step ms,speed-up\n1,1,4,100 ± 1,1\n4,1,4,30 ± " +
			"1,3.33\n", nil},
		{"contention called scaling",
			"workers,threads,host cores,step ms,speed-up\n1,1,2,100 ± 1,1\n4,1,2,52 ± 1,1.92\n",
			[]string{"refused contention"}},
		{"contention by the text",
			"workers,step ms,speed-up\n1,100 ± 1,1\n4,52 ± 1,1.92\n# All on one machine with 2 cores.\n",
			[]string{"refused contention"}},
		{"contention without a speed-up", "workers,host cores,step ms\n1,2,100 ± 1\n4,2,52 ± 1\n",
			[]string{"note contention"}},
		{"cores of several nodes",
			"nodes,workers,cores per node,step ms,speed-up\n1,2,2,100 ± 1,1\n2,4,2,52 ± 1,1.92\n", nil},
		{"cores that are not there", "label,cores,host cores,step ms\na,8,4,100 ± 1\nb,4,4,110 ± 1\n",
			[]string{"refused cores"}},
		{"cores that no thread uses", "workers,threads,cores,step ms\n1,1,1,100 ± 1\n2,1,4,60 ± 1\n",
			[]string{"refused cores"}},
		{"a loss above chance", "label,dataset,loss\na,CIFAR-10,2.33\n", []string{"note loss at chance"}},
		{"a loss below chance", "label,dataset,loss\na,CIFAR-10,0.91\n", nil},
		{"a loss of many classes", "label,dataset,loss\na,ImageNet,2.33\n", nil},
		{"an accuracy at chance", "label,classes,accuracy %\na,10,10.3\n", []string{"note loss at chance"}},
	}
}

// evidenceCases are sentences beside tables.
func evidenceCases() []example {
	return []example{
		{"a factor that rounding does not excuse",
			"strategy,workers,step ms\nsingle,1,100 ± 1\nddp,2,60 ± 1\n" +
				"# ddp is 2x faster than single.\n",
			[]string{"refused wrong denominators"}},
		{"a percentage of more than all", "strategy,workers,step ms\nsingle,1,100 ± 1\nddp,2,60 ± 1\n" +
			"# ddp is 100 % faster than single.\n",
			[]string{"refused wrong denominators"}},
		{"a reason for something else", "strategy,step ms\nring,10 ± 1\nddp,7 ± 1\n" +
			"# We took CIFAR-10 because it is small.\n",
			[]string{"not checked"}},
		{"losses by rank", "strategy,iteration,rank 0,rank 1\nddp,20,1.2,1.5\nddp,40,1.0,1.3\n", nil},
		{"thousands of samples", "strategy,workers,samples/s,speed-up\nsingle,1,1.2k,1\nddp,2,2.3k,1.92\n",
			[]string{"note one repeat"}},
		{"a difference in every round", paired + said + "ddp is faster than all-reduce.", []string{"holds"}},
		{"its factor", paired + said + "ddp is 1.1x as fast as all-reduce.", []string{"holds"}},
		{"its percentage", paired + said + "ddp is 10 % faster than all-reduce.", []string{"holds"}},
		{"a factor too large", paired + said + "ddp is 1.8x faster than all-reduce.",
			[]string{"refused wrong denominators"}},
		{"the wrong way round", paired + said + "all-reduce is faster than ddp.",
			[]string{"refused wrong denominators"}},
		{"the winner", paired + said + "ddp is the fastest.", []string{"holds"}},
		{"the slowest", paired + said + "all-reduce is the slowest.", []string{"holds"}},
		{"a winner of less work", "strategy,workers,samples,total s\nsingle,1,10000,20\nddp,2,5000,5\n" +
			"# ddp is the fastest.\n", []string{"refused unequal work", "note one repeat"}},
		{"a percentage of speed", percents + "ddp is 82 % faster than single.\n", []string{"holds"}},
		{"a percentage of time", percents + "ddp is 45 % faster than single.\n", []string{"holds"}},
		{"a percentage of neither", percents + "ddp is 60 % faster than single.\n",
			[]string{"refused wrong denominators"}},
		{"91 % are not perfect", percents + "ddp scales perfectly.\n",
			[]string{"refused wrong denominators"}},
		{"91 % are near", percents + "ddp scales almost linearly.\n", []string{"holds"}},
		{"a winner that was not told apart", tied + said + "ddp wins.", []string{"refused winner"}},
		{"a difference inside noise", tied + said + "all-reduce is faster than ddp.",
			[]string{"refused winner"}},
		{"no claim in a tie", tied, nil},
		{"intervals that overlap",
			"strategy,step ms,low,high\nring,10.2,9.8,10.6\nddp,9.9,9.5,10.3\n# ddp is the fastest.\n",
			[]string{"refused winner"}},
		{"intervals that do not",
			"strategy,step ms,low,high\nring,12.2,11.8,12.6\nddp,9.9,9.5,10.3\n# ddp is the fastest.\n",
			[]string{"holds"}},
		{"a difference below the least", "strategy,step ms,low,high\nring,10.10,10.09,10.11\nddp,9.99,9.98," +
			"10.00\n# ddp is the fastest. ddp is faster than ring. ddp is 1.01x as fast as ring.\n",
			[]string{"refused winner"}}, // all three
		{"a difference above the least", "strategy,step ms,low,high\nring,10.40,10.39,10.41\nddp,9.99,9.98," +
			"10.00\n# ddp is the fastest. ddp is faster than ring.\n",
			[]string{"holds", "holds"}},
		{"a winner in bold", "| strategy | step ms |\n|---|---|\n| ring | 10.2 ± 0.4 |\n| ddp | **9.9 ± " +
			"0.4** |\n",
			[]string{"refused winner"}},
		{"a winner in bold that is one",
			"| strategy | step ms |\n|---|---|\n| ring | 12.2 ± 0.4 |\n| ddp | **9.9 ± 0.4** |\n", nil},
		{"one run each, near", "strategy,step ms\nring,10.2\nddp,9.9\n# ddp is faster than ring.\n",
			[]string{"refused one repeat", "note one repeat"}},
		{"one run each, far", "strategy,step ms\nring,19.2\nddp,9.9\n# ddp is faster than ring.\n",
			[]string{"holds", "note one repeat"}},
		{"one run each, no claim", "strategy,step ms\nring,10.2\nddp,9.9\n", []string{"note one repeat"}},
		{"of a projection", "strategy,workers,source,step ms\nddp,2,measured,10 ± 1\nddp,8,projected,3\n# " +
			"ddp with 8 workers is faster than ddp with 2 workers.\n",
			[]string{"refused projections", "note projections"}},
		{"of unequal work", "strategy,epochs,epoch s\nring,10,20 ± 1\nddp,5,15 ± 1\n# ddp is faster than " +
			"ring.\n",
			[]string{"refused unequal work"}},
		{"a better accuracy", seeds + said + "exact has a higher accuracy than top-k.", []string{"holds"}},
		{"the best accuracy", seeds + said + "exact has the best accuracy.", []string{"refused accuracy"}},
		{"an accuracy that is not the best", seeds + said + "top-k reaches the highest accuracy.",
			[]string{"refused accuracy"}},
		{"linear scaling of one row", "strategy,workers,step ms\nsingle,1,100 ± 1\nring,2,70 ± 1\n" +
			"ddp,2,51 ± 1\n# ring scales linearly. ddp scales linearly.\n",
			[]string{"holds", "refused wrong denominators"}},
		{"the same accuracy", seeds + said + "exact and int8 reach the same accuracy.", []string{"holds"}},
		{"not the same accuracy", seeds + said + "exact and top-k reach the same accuracy.",
			[]string{"refused one seed"}},
		{"an accuracy that seeds do not tell apart", seeds + said + "exact is more accurate than int8.",
			[]string{"refused accuracy"}},
		{"an accuracy from one seed",
			"strategy,step ms,accuracy %\nring,10 ± 1,91.2\nddp,7 ± 1,91.6\n# ddp has a better accuracy " +
				"than ring.\n",
			[]string{"refused one seed"}},
		{"converged at chance", "label,dataset,step ms,loss\na,SVHN,10 ± 1,2.31\n# The model converges.\n",
			[]string{"refused loss at chance", "note loss at chance"}},
		{"converged, perhaps", "label,dataset,step ms,loss\na,SVHN,10 ± 1,0.31\n# The model converges.\n",
			[]string{"not checked"}},
		{"converged with an accuracy at chance",
			"label,dataset,step ms,accuracy\na,SVHN,10 ± 1,10.1 %\n# The model converges.\n",
			[]string{"refused loss at chance", "note loss at chance"}},
		{"converged with an accuracy above chance",
			"label,dataset,step ms,accuracy\na,SVHN,10 ± 1,30.1 %\n# The model converges.\n",
			[]string{"not checked"}},
		{"a denial", "label,dataset,step ms,loss\na,SVHN,10 ± 1,2.31\n# The model does not converge.\n",
			[]string{"not checked", "note loss at chance"}},
		{"not the bottleneck at half the time",
			"label,total s,network time s\na,30 ± 1,14\n# The network is not the bottleneck.\n",
			[]string{"refused cause"}},
		{"not the bottleneck",
			"label,total s,network time s\na,30 ± 1,1\n# The network is not the bottleneck.\n",
			[]string{"holds"}},
		{"the bottleneck", "label,total s,network time s\na,30 ± 1,21\n# Communication is the " +
			"bottleneck.\n", []string{"holds"}},
		{"a cause without a measurement", paired + said + "ddp wins because of the network.",
			[]string{"refused cause"}},
		{"a cause with one", "strategy,step ms,forward,backward,sync,other\nring,10 ± 1,3 ms,4 ms,2.5 " +
			"ms,0.5 ms\nddp,8 ± 1,3 ms,4 ms,0.5 ms,0.5 ms\n# ring is slower than ddp because of " +
			"communication.\n",
			[]string{"not checked"}},
		{"a guess", paired + said + "all-reduce probably suffers from cache misses.",
			[]string{"refused cause"}},
		{"overlap that was not measured",
			"strategy,step ms,compute %,communication %\nring,10 ± 1,45,17\nddp,9 ± 1,45,17\n# ddp " +
				"overlaps communication with computation.\n",
			[]string{"refused cause"}},
		{"overlap that was", "strategy,step ms,exposed ms,hidden ms\nring,10 ± 1,3,0\nddp,9 ± 1,1,2\n# " +
			"ddp overlaps communication with computation.\n",
			[]string{"not checked"}},
		{"linear scaling", "workers,step ms\n1,100 ± 1\n2,51 ± 1\n4,26 ± 1\n# It scales nearly linearly.\n",
			[]string{"not checked"}},
		{"linear scaling, said plainly",
			"workers,step ms\n1,100 ± 1\n2,51 ± 1\n4,26 ± 1\n# Near-linear scaling.\n", []string{"holds"}},
		{"linear scaling that is not",
			"workers,step ms\n1,100 ± 1\n2,56 ± 1\n4,36 ± 1\n# Near-linear scaling.\n",
			[]string{"refused wrong denominators"}},
		{"a serial fraction",
			"workers,step ms\n1,100 ± 1\n2,55 ± 1\n4,32.5 ± 1\n# The serial fraction is 10 %.\n",
			[]string{"holds"}},
		{"a serial fraction that is not",
			"workers,step ms\n1,100 ± 1\n2,56 ± 1\n4,36 ± 1\n# 95 % of the work is parallel.\n",
			[]string{"refused Amdahl"}},
		{"a serial fraction of weak scaling",
			"workers,batch per worker,samples/s\n1,32,100 ± 1\n2,32,190 ± 1\n4,32,370 ± 2\n# The serial " +
				"fraction is 10 %.\n",
			[]string{"holds", "note unequal work"}},
		{"a question and an advice", paired + said +
			"Is ddp faster than all-reduce? Use ddp if the network is slow.",
			[]string{"not checked", "not checked"}},
		{"a name of several rows",
			"strategy,workers,step ms\nddp,2,10 ± 1\nddp,4,6 ± 1\nring,4,9 ± 1\n# ddp is faster than ring.\n",
			[]string{"not checked"}},
		{"the one of them that is meant",
			"strategy,workers,step ms\nddp,2,10 ± 1\nddp,4,6 ± 1\nring,4,9 ± 1\n# ddp with 4 workers is " +
				"faster than ring.\n",
			[]string{"holds"}},
		{"an efficiency", "label,workers,step ms\nsingle,1,100 ± 1\nddp,2,56 ± 1\n# The efficiency of ddp " +
			"is 89 %.\n", []string{"holds"}},
		{"an efficiency that is not",
			"label,workers,step ms\nsingle,1,100 ± 1\nddp,2,56 ± 1\n# ddp reaches an efficiency of 95 %.\n",
			[]string{"refused wrong denominators"}},
		{"a speed-up", "label,workers,step ms\nsingle,1,100 ± 1\nddp,2,56 ± 1\n# ddp reaches a speed-up " +
			"of 1.79.\n", []string{"holds"}},
	}
}

// formCases are about the forms of files.
func formCases() []example {
	return []example{
		{"a log of two ranks", "epoch,step,rank,loss,lr,time_s\n0,0,0,2.31,0.1,0.5\n0,0,1,2.31,0.1,0.5\n" +
			"0,1,0,2.20,0.1,0.4\n0,1,1,2.20,0.1,0.4\n", nil},
		{"means of runs", "# Each figure is the mean of 5 runs.\n\n| GPUs | img/s | Speedup | Efficiency " +
			"|\n" +
			"|---:|---:|---:|---:|\n| 1 | 350 | 1.00x | 100% |\n| 8 | 2,550 | 7.29x | 91% |\n\n" +
			"Scaling is linear up to 8 GPUs. 8 GPUs reach a speed-up of 7.29.\n", []string{"holds", "holds"}},
		{"a list of objects",
			`[{"strategy":"single","workers":1,"step ms":"20 ± 1"},{"strategy":"ddp","workers":2,"step ` +
				`ms":"11 ± 1"}]`, nil},
		{"claims in JSON", `{"rows":[{"strategy":"single","workers":1,"step ms":"20 ± 1"},` +
			`{"strategy":"ddp","workers":2,"step ms":"11 ± 1"}],
			"claims":["ddp is 1.8x faster than single.","ddp is the fastest."]}`, []string{"holds", "holds"}},
		{"facts in JSON", `{"machine":{"cores":2},"columns":["workers","step ms","speed-up"],"rows":[[1,` +
			`"20 ± 1",1],[4,"11 ± 1",1.82]]}`,
			[]string{"refused contention"}},
		{"a table on its side",
			"| metric | base | two |\n|---|---|---|\n| workers | 1 | 2 |\n| step time (ms) | 20 ± 1 | 11 " +
				"± 1 |\n" +
				"| speed-up | 1 | 1.82 |\n| loss | 0.5 | 0.5 |\n", nil},
		{"semicolons and decimal commas",
			"strategy;workers;step ms\nsingle;1;20,5 ± 0,1\nddp;2;11,1 ± 0,1\n", nil},
		{"thousands with points and decimal commas", "strategy;workers;total s;samples/s\n" +
			"single;1;1.200,5 ± 1;1.000\nddp;2;630,2 ± 1;1.905\n", nil},
		{"the same with a rate too high", "strategy;workers;batch;step s;samples/s\n" +
			"single;1;1.024;1,02 ± 0,01;1.000\nddp;2;1.024;0,55 ± 0,01;2.905\n",
			[]string{"refused wrong denominators"}},
		{"points that are no thousands",
			"strategy;workers;step s\nsingle;1;1.250 ± 0.01\nddp;2;0.950 ± 0.01\n", nil},
		{"thousands with apostrophes", "strategy,workers,batch,step s,samples/s\n" +
			"single,1,1'024,1.00 ± 0.01,1'024\nddp,2,1\u202f024,0.55 ± 0.01,1'862\n", nil},
		{"old line ends", "strategy,workers,step ms,speed-up\rsingle,1,20 ± 1,1\rddp,2,11 ± 1,3.5\r",
			[]string{"refused above 100 %", "refused wrong denominators"}},
		{"a remark of two lines", "strategy,workers,step ms,speed-up,remark\n" +
			"single,1,20 ± 1,1,\"first\nsecond\"\nddp,2,11 ± 1,3.5,\"\"\n",
			[]string{"refused above 100 %", "refused wrong denominators"}},
		{"a table in HTML", "<table><tr><th>step ms</th></tr><tr><td>1</td></tr></table>\n",
			[]string{"not checked"}},
		{"a loss in a sentence", "Training on CIFAR-10 converged reliably with an average loss of 2.33.\n",
			[]string{"refused loss at chance"}},
		{"a lower loss in a sentence", "Training on CIFAR-10 converged with a loss of 0.31.\n",
			[]string{"not checked"}},
		{"a training log", "epoch,rank,loss/validation,accuracy/validation,learning rate,wall " +
			"time\n1,0,0.9,0.71,0.1,20\n2,0,0.5,0.83,0.05,40\n3,0,0.4,0.9,0.01,60\n", nil},
	}
}
