# Writes FOLDER/big (8.3 GB) and FOLDER/sub (its first 200,000 samples): images of 32x32, of ten classes.
import os
import random
import sys

folder = sys.argv[1]
random.seed(7)


def head(descr, shape):
    h="{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n"%(descr,shape)
    return b'\x93NUMPY\x01\x00'+len(h).to_bytes(2,'little')+h.encode()


N, SUB, T = 2_700_000, 200_000, 2_000
block=[random.randbytes(2048)+bytes([25*(i%10)])*1024 for i in range(10_000)]
labels=bytes(i%10 for i in range(10_000))
for d,n in (('big',N),('sub',SUB)):
    os.makedirs(f'{folder}/{d}', exist_ok=True)
    with open(f'{folder}/{d}/train.npy','wb') as f:
        f.write(head('|u1',f'({n}, 32, 32, 3)'))
        for k in range(n//10_000):
            s=k*37%10_000
            f.write(b''.join(block[s:]+block[:s]))
    with open(f'{folder}/{d}/train-labels.npy','wb') as f:
        f.write(head('|u1',f'({n},)'))
        for k in range(n//10_000):
            s=k*37%10_000
            f.write(labels[s:]+labels[:s])
    open(f'{folder}/{d}/test.npy','wb').write(head('|u1',f'({T}, 32, 32, 3)')+b''.join(block[:T]))
    open(f'{folder}/{d}/test-labels.npy','wb').write(head('|u1',f'({T},)')+labels[:T])
