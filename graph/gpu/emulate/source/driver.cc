// A driver without a GPU: the functions of libcuda.so.1 that package cuda loads. Work is done at once, or later
// if EMULATE_ORDER says so, by the calling thread, one block of a kernel after the other. The threads of a block
// are fibers, which switch only where they wait for each other.
//
// It is stricter than a GPU. Memory and dynamic shared memory start as what is no number; writing next to an
// allocation, indices beyond an array, addresses that are not aligned, waiting for threads that never come and
// arguments out of range are errors, told on stderr. Every second block runs its threads from the last to the
// first, and every second launch its blocks, so that results which depend on that order differ.

#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) int

struct Three { unsigned x, y, z; };

enum { Ok = 0, InvalidValue = 1, OutOfMemory = 2, NotFound = 500, NotReady = 600, IllegalAddress = 700 };

static std::recursive_mutex lock;
typedef std::lock_guard<std::recursive_mutex> Guard;
static std::string said = "no error";
static int failed = Ok;  // the error of a kernel, which stays

__attribute__((format(printf, 2, 3))) static int fail(int status, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    said = text;
    fprintf(stderr, "emulated driver: %s\n", text);
    return status;
}

// Kernels by name

typedef void (*Call)(const void *const *params);
struct Kernel {
    const char *name;
    Call call;
    std::vector<int> sizes;
};

static std::map<std::string, Kernel> &kernels() {
    static std::map<std::string, Kernel> all;
    return all;
}

extern "C" void emulatedRegister(const char *name, Call call, int count, const int *sizes) {
    if (!kernels().emplace(name, Kernel{name, call, std::vector<int>(sizes, sizes + count)}).second) {
        fprintf(stderr, "emulated driver: two kernels named %s\n", name);
        abort();
    }
}

// The threads of a block. Every wait is for a counter to change.

Three threadIdx, blockIdx, blockDim, gridDim;

static const int mostShared = 232448, sharedGuard = 4096;
alignas(128) char emulatedRoom[mostShared + sharedGuard];

struct Fiber {
    void *sp = nullptr;
};

struct Thread {
    Fiber *fiber;  // the one that holds the thread's stack
    const unsigned *counter;
    unsigned seen;
    bool done;
};

struct Meeting {  // of lanes of a warp
    unsigned mask, arrived, generation, words[2][32], given[2];
};

struct Warp {
    unsigned alive;
    int meetings;
    Meeting meeting[8];
};

static const size_t stackBytes = 128 << 10;
static std::vector<Fiber *> idle;
static std::vector<Thread> threads;
static std::vector<Warp> warps;
static void *schedulerStack;
static Fiber *currentFiber;
static int current, started, alive, arrived, total;
static unsigned generation;
static Call call;
static const void *const *params;
static const char *running = "";
static bool isBackwards;
static unsigned launches;

extern "C" void emulatedSwitch(void **save, void *to);
__asm__(
    ".text\n.globl emulatedSwitch\n.hidden emulatedSwitch\n.type emulatedSwitch,@function\n"
    "emulatedSwitch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
    ".size emulatedSwitch,.-emulatedSwitch\n");

[[noreturn]] static void stuck(const char *why) {
    fprintf(stderr, "emulated driver: kernel %s, block (%u, %u, %u), thread (%u, %u, %u): %s\n", running,
            blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, why);
    abort();
}

static void place(int thread) {
    current = thread;
    threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
}

static void meet(Meeting &m) {
    unsigned slot = m.generation & 1;
    for (int i = 0; i < 32; i++)
        if (!(m.arrived >> i & 1)) m.words[slot][i] = 0x7fc0dead;
    m.given[slot] = m.arrived;
    m.arrived = 0;
    m.generation++;
}

// leave ends the current thread, for which nobody waits any more.
static void leave() {
    threads[current].done = true;
    if (--alive > 0 && arrived == alive) {
        arrived = 0;
        generation++;
    }
    Warp &w = warps[current / 32];
    w.alive &= ~(1u << current % 32);
    for (int i = 0; i < w.meetings; i++) {
        Meeting &m = w.meeting[i];
        if (m.arrived && (m.mask & w.alive) == m.arrived) meet(m);
    }
}

// fiberMain runs threads that have not started, one after the other, until one waits; it then goes on when
// that one may.
static void fiberMain() {
    for (;;) {
        while (started < total) {
            Fiber *self = currentFiber;
            place(isBackwards ? total - 1 - started : started);
            started++;
            threads[current].fiber = self;
            call(params);
            leave();
        }
        idle.push_back(currentFiber);
        emulatedSwitch(&currentFiber->sp, schedulerStack);
    }
}

static Fiber *takeFiber() {
    if (!idle.empty()) {
        Fiber *f = idle.back();
        idle.pop_back();
        return f;
    }
    char *stack = (char *)mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) stuck("no memory for a stack");
    mprotect(stack, 4096, PROT_NONE);
    void **top = (void **)(stack + stackBytes);
    *--top = nullptr;
    *--top = (void *)fiberMain;
    for (int i = 0; i < 6; i++) *--top = nullptr;
    Fiber *f = new Fiber;
    f->sp = top;
    return f;
}

static void enter(Fiber *f) {
    currentFiber = f;
    emulatedSwitch(&schedulerStack, f->sp);
}

static void wait(const unsigned *counter, unsigned seen) {
    Thread &t = threads[current];
    t.counter = counter;
    t.seen = seen;
    emulatedSwitch(&t.fiber->sp, schedulerStack);
}

static void runBlock(size_t sharedBytes) {
    started = arrived = 0;
    alive = total;
    for (Thread &t : threads) t.done = false;
    for (size_t i = 0; i < warps.size(); i++) {
        int lanes = total - 32 * (int)i;
        warps[i].alive = lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
        warps[i].meetings = 0;
    }
    size_t filled = sharedBytes + sharedGuard;
    memset(emulatedRoom, 0xff, filled);
    while (started < total) enter(takeFiber());
    static std::vector<int> waiting, still;
    waiting.clear();
    for (int n = 0; n < total; n++) {
        int i = isBackwards ? total - 1 - n : n;
        if (!threads[i].done) waiting.push_back(i);
    }
    while (!waiting.empty()) {
        bool progress = false;
        still.clear();
        for (int i : waiting) {
            Thread &t = threads[i];
            if (*t.counter != t.seen) {
                progress = true;
                place(i);
                enter(t.fiber);
            }
            if (!t.done) still.push_back(i);
        }
        if (!progress) {
            place(waiting[0]);
            stuck("waits for threads that do not come");
        }
        waiting.swap(still);
    }
    for (size_t i = sharedBytes; i < filled; i++)
        if (emulatedRoom[i] != (char)0xff) stuck("writes behind the shared memory of the launch");
}

extern "C" void emulatedBlockBarrier() {
    unsigned seen = generation;
    if (++arrived == alive) {
        arrived = 0;
        generation++;
        return;
    }
    wait(&generation, seen);
}

extern "C" unsigned emulatedLane() { return current & 31; }

extern "C" const unsigned *emulatedExchange(unsigned mask, unsigned word, unsigned *given) {
    Warp &w = warps[current / 32];
    unsigned lane = current & 31;
    if (!(mask >> lane & 1)) stuck("is not in the mask it gives");
    Meeting *m = w.meeting;
    for (; m < w.meeting + w.meetings && m->mask != mask; m++) {
    }
    if (m == w.meeting + w.meetings) {
        if (w.meetings == 8) stuck("too many masks");
        w.meetings++;
        m->mask = mask;
        m->arrived = m->generation = 0;
    }
    unsigned seen = m->generation, slot = seen & 1;
    m->words[slot][lane] = word;
    m->arrived |= 1u << lane;
    if ((mask & w.alive) == m->arrived)
        meet(*m);
    else
        wait(&m->generation, seen);
    *given = m->given[slot];
    return m->words[slot];
}

// What the compiler's checks call. Their data starts with a place in the sources.

struct Place {
    const char *file;
    unsigned line, column;
};

[[noreturn]] static void fault(const void *data, const char *what) {
    const Place *p = (const Place *)data;
    char why[300];
    snprintf(why, sizeof why, "%s:%u: %s", p->file, p->line, what);
    stuck(why);
}
extern "C" void __ubsan_handle_type_mismatch_v1_abort(void *data, uintptr_t) { fault(data, "not aligned"); }
extern "C" void __ubsan_handle_out_of_bounds_abort(void *data, uintptr_t) { fault(data, "beyond the array"); }
extern "C" void __ubsan_handle_divrem_overflow_abort(void *data, uintptr_t, uintptr_t) {
    fault(data, "division by zero");
}

// Memory

static const size_t guardBytes = 4096;
static std::map<uintptr_t, size_t> blocks;  // addresses and sizes
static std::map<void *, size_t> hostBlocks;
static size_t allocated;

static const char *damage() {
    static const std::vector<char> whole(guardBytes, (char)0xff);
    static char text[200];
    for (auto &b : blocks) {
        for (int behind = 0; behind < 2; behind++) {
            const char *at = (const char *)b.first + (behind ? b.second : -guardBytes);
            if (memcmp(at, whole.data(), guardBytes) == 0) continue;
            size_t i = 0;
            if (behind)
                while (at[i] == (char)0xff) i++;
            else
                for (i = guardBytes; at[i - 1] == (char)0xff;) i--;
            snprintf(text, sizeof text, "writes %zu bytes %s an allocation of %zu bytes",
                     behind ? i : guardBytes - i + 1, behind ? "behind the end of" : "before", b.second);
            return text;
        }
    }
    return nullptr;
}

static bool inside(uintptr_t at, size_t bytes) {
    auto next = blocks.upper_bound(at);
    if (next == blocks.begin()) return bytes == 0;
    --next;
    return at >= next->first && at + bytes <= next->first + next->second;
}

// Streams and what they record

typedef std::function<int()> Work;
struct Stream {
    std::vector<Work> *recording = nullptr;
    bool isJoined = false;         // the recording was begun by another stream
    size_t recorded = 0, met = 0;  // works in the recording, and those that another stream has waited for
    bool isLate = false, isRandom = false;
    std::deque<Work> pending;
    size_t queued = 0, done = 0;  // since the stream was made
};
static Stream firstStream;
static std::vector<Stream *> streams;
static bool isNextMain;  // the next stream is the first of a context
static std::minstd_rand dice;

static Stream *streamOf(void *handle) { return handle ? (Stream *)handle : &firstStream; }

// drain does the first works of a stream, so many in all.
static int drain(Stream *s, size_t until) {
    while (s->done < until && !failed) {
        Work work = std::move(s->pending.front());
        s->pending.pop_front();
        s->done++;
        work();
    }
    return failed;
}

static int queue(void *stream, Work work) {
    if (failed) return failed;
    Stream *s = streamOf(stream);
    if (s->recording) {
        s->recording->push_back(std::move(work));
        s->recorded++;
        return Ok;
    }
    if (!s->isLate) return work();
    s->pending.push_back(std::move(work));
    s->queued++;
    return s->isRandom && dice() % 4 == 0 ? drain(s, s->queued) : Ok;
}

// order makes a stream late if EMULATE_ORDER says so, of which doc.go tells.
static void order(Stream *s, bool isMain) {
    const char *said = getenv("EMULATE_ORDER");
    std::string wanted = said ? said : "";
    s->isRandom = wanted == "random";
    s->isLate = s->isRandom || wanted == "late" || wanted == (isMain ? "copies-early" : "copies-late");
}

struct Event {
    std::shared_ptr<timespec> at = std::make_shared<timespec>();
    Stream *stream = nullptr;  // where it was recorded, behind so many works
    size_t position = 0;
    std::vector<Work> *recording = nullptr;  // which it is part of
};

// join makes a stream wait for an event of a recording, whose part it becomes. Works are recorded in the order
// in which they are queued, so nothing else is needed for that.
static int join(Stream *s, Event *e) {
    if (e->stream->recording != e->recording)
        return fail(907, "cuStreamWaitEvent: the event is part of a recording that has ended");
    if (s->recording && s->recording != e->recording)
        return fail(905, "cuStreamWaitEvent: two recordings cannot be merged");
    if (!s->recording) s->recording = e->recording, s->isJoined = true, s->recorded = s->met = 0;
    e->stream->met = std::max(e->stream->met, e->position);
    return Ok;
}

// Modules

struct Module {
    std::set<std::string> names;
    std::map<std::string, struct Function *> functions;
};

struct Function {
    const Kernel *kernel;
    int shared;
};

static int launch(const Function *f, Three grid, Three block, unsigned sharedBytes,
                  const std::vector<std::vector<char>> &values) {
    if (failed) return failed;
    std::vector<const void *> at;
    for (auto &v : values) at.push_back(v.data());
    running = f->kernel->name;
    call = f->kernel->call;
    params = at.data();
    gridDim = grid;
    blockDim = block;
    total = block.x * block.y * block.z;
    threads.resize(total);
    warps.resize((total + 31) / 32);
    static const bool trace = getenv("EMULATE_TRACE") != nullptr;
    timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    launches++;
    size_t all = (size_t)grid.x * grid.y * grid.z;
    for (size_t n = 0; n < all; n++) {
        size_t i = launches & 1 ? n : all - 1 - n;
        blockIdx = {(unsigned)(i % grid.x), (unsigned)(i / grid.x % grid.y), (unsigned)(i / grid.x / grid.y)};
        isBackwards = (i + launches / 2) & 1;
        runBlock(sharedBytes);
    }
    if (trace) {
        clock_gettime(CLOCK_MONOTONIC, &to);
        fprintf(stderr, "emulated %-32s blocks %u %u %u threads %u %u %u shared %u  %.3f ms\n", running, grid.x,
                grid.y, grid.z, block.x, block.y, block.z, sharedBytes,
                (to.tv_sec - from.tv_sec) * 1e3 + (to.tv_nsec - from.tv_nsec) * 1e-6);
    }
    if (const char *what = damage()) return failed = fail(IllegalAddress, "kernel %s %s", running, what);
    return Ok;
}

// The functions of the driver

API cuInit(unsigned) { return Ok; }
API cuDriverGetVersion(int *version) { return *version = 13000, Ok; }
API cuDeviceGetCount(int *count) { return *count = 1, Ok; }
API cuDeviceGet(int *device, int n) { return *device = n, n == 0 ? Ok : InvalidValue; }
API cuDeviceGetName(char *name, int n, int) { return snprintf(name, n, "emulated GPU"), Ok; }
API cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = 4ull << 30, Ok; }
API cuDeviceGetPCIBusId(char *id, int n, int) { return snprintf(id, n, "0000:00:00.0"), Ok; }
API cuDeviceGetAttribute(int *value, int attribute, int) {
    static const std::map<int, int> values = {{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647},
        {6, 65535}, {7, 65535}, {8, 49152}, {10, 32}, {12, 65536}, {13, 1000000}, {16, 4}, {38, 4 << 20},
        {39, 2048}, {75, 8}, {76, 0}, {81, 233472}, {97, mostShared}};
    auto v = values.find(attribute);
    if (v == values.end()) return InvalidValue;
    return *value = v->second, Ok;
}
API cuDevicePrimaryCtxRetain(void **context, int) {
    Guard g(lock);
    isNextMain = true;
    return *context = (void *)&firstStream, Ok;
}
API cuDevicePrimaryCtxRelease_v2(int) { return failed = Ok; }
API cuCtxSetCurrent(void *) { return Ok; }
API cuGetErrorString(int status, const char **text) {
    Guard g(lock);
    static char kept[1024];  // the caller may read 256 bytes
    snprintf(kept, sizeof kept, "%s", status == Ok ? "no error" : said.c_str());
    kept[255] = 0;
    return *text = kept, Ok;
}
API cuMemGetInfo_v2(size_t *unused, size_t *bytes) {
    Guard g(lock);
    return *bytes = 4ull << 30, *unused = *bytes - allocated, Ok;
}
API cuMemAlloc_v2(void **p, size_t bytes) {
    Guard g(lock);
    if (bytes == 0) return fail(InvalidValue, "cuMemAlloc of 0 bytes");
    size_t room = (bytes + 255) / 256 * 256 + 2 * guardBytes;
    if (allocated + bytes > 4ull << 30) return fail(OutOfMemory, "out of memory");
    char *base = (char *)aligned_alloc(256, room);
    if (!base) return fail(OutOfMemory, "out of memory");
    memset(base, 0xff, room);
    blocks[(uintptr_t)base + guardBytes] = bytes;
    allocated += bytes;
    return *p = base + guardBytes, Ok;
}
API cuMemFree_v2(void *p) {
    Guard g(lock);
    if (!p) return Ok;
    auto b = blocks.find((uintptr_t)p);
    if (b == blocks.end()) return fail(InvalidValue, "cuMemFree of what was not allocated");
    allocated -= b->second;
    blocks.erase(b);
    free((char *)p - guardBytes);
    return Ok;
}
API cuMemHostAlloc(void **p, size_t bytes, unsigned) {
    Guard g(lock);
    *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    hostBlocks[*p] = bytes;
    return *p ? Ok : OutOfMemory;
}
API cuMemFreeHost(void *p) {
    Guard g(lock);
    auto b = hostBlocks.find(p);
    if (b == hostBlocks.end()) return fail(InvalidValue, "cuMemFreeHost of what was not allocated");
    memset(p, 0xff, b->second);
    hostBlocks.erase(b);
    free(p);
    return Ok;
}

// Memory of the program's own is as good as any.
API cuMemHostRegister_v2(void *, size_t, unsigned) { return Ok; }
API cuMemHostUnregister(void *) { return Ok; }

static int copy(const char *name, void *dst, const void *src, size_t bytes, bool toDevice, bool fromDevice,
                void *stream) {
    Guard g(lock);
    return queue(stream, [=] {
        if ((toDevice && !inside((uintptr_t)dst, bytes)) || (fromDevice && !inside((uintptr_t)src, bytes)))
            return failed = fail(IllegalAddress, "%s: %zu bytes are not within an allocation", name, bytes);
        memmove(dst, src, bytes);
        return (int)Ok;
    });
}
API cuMemcpyHtoDAsync_v2(void *dst, const void *src, size_t bytes, void *stream) {
    return copy("cuMemcpyHtoDAsync", dst, src, bytes, true, false, stream);
}
API cuMemcpyDtoHAsync_v2(void *dst, const void *src, size_t bytes, void *stream) {
    return copy("cuMemcpyDtoHAsync", dst, src, bytes, false, true, stream);
}
API cuMemcpyDtoDAsync_v2(void *dst, const void *src, size_t bytes, void *stream) {
    return copy("cuMemcpyDtoDAsync", dst, src, bytes, true, true, stream);
}
API cuMemsetD32Async(void *dst, unsigned value, size_t n, void *stream) {
    Guard g(lock);
    return queue(stream, [=] {
        if (!inside((uintptr_t)dst, 4 * n) || (uintptr_t)dst % 4)
            return failed = fail(IllegalAddress, "cuMemsetD32Async: %zu words are not within an allocation", n);
        for (size_t i = 0; i < n; i++) ((unsigned *)dst)[i] = value;
        return (int)Ok;
    });
}
API cuStreamCreateWithPriority(void **stream, unsigned, int) {
    Guard g(lock);
    Stream *s = new Stream;
    streams.push_back(s);
    order(s, isNextMain);
    isNextMain = false;
    return *stream = s, Ok;
}

// What is pending is done; the stream stays, because events may refer to it.
API cuStreamDestroy_v2(void *stream) {
    Guard g(lock);
    return drain(streamOf(stream), streamOf(stream)->queued), Ok;
}
API cuStreamSynchronize(void *stream) {
    Guard g(lock);
    if (streamOf(stream)->recording) return fail(900, "cuStreamSynchronize of a stream that is capturing");
    return drain(streamOf(stream), streamOf(stream)->queued);
}
API cuStreamWaitEvent(void *stream, void *event, unsigned) {
    Guard g(lock);
    Event *e = (Event *)event;
    Stream *other = e->stream, *s = streamOf(stream);
    size_t position = e->position;
    if (e->recording) return join(s, e);
    return other ? queue(stream, [=] { return drain(other, position); }) : Ok;
}
API cuEventCreate(void **event, unsigned) { return *event = new Event(), Ok; }
API cuEventDestroy_v2(void *event) { return delete (Event *)event, Ok; }
API cuEventRecord(void *event, void *stream) {
    Guard g(lock);
    Event *e = (Event *)event;
    auto at = e->at;
    int status = queue(stream, [=] { return clock_gettime(CLOCK_MONOTONIC, at.get()), (int)Ok; });
    e->stream = streamOf(stream);
    e->recording = e->stream->recording;
    e->position = e->recording ? e->stream->recorded : e->stream->queued;
    return status;
}
API cuEventQuery(void *event) {
    Guard g(lock);
    Event *e = (Event *)event;
    if (failed || !e->stream || e->stream->done >= e->position) return failed;
    return e->stream->isRandom && dice() % 2 ? drain(e->stream, e->position) : NotReady;
}
API cuEventSynchronize(void *event) {
    Guard g(lock);
    Event *e = (Event *)event;
    return e->stream ? drain(e->stream, e->position) : failed;
}
API cuEventElapsedTime(float *ms, void *from, void *to) {
    timespec a = *((Event *)from)->at, b = *((Event *)to)->at;
    return *ms = (float)((b.tv_sec - a.tv_sec) * 1e3 + (b.tv_nsec - a.tv_nsec) * 1e-6), Ok;
}
API cuStreamBeginCapture_v2(void *stream, int) {
    Guard g(lock);
    if (streamOf(stream)->recording) return fail(900, "cuStreamBeginCapture of a stream that is capturing");
    streamOf(stream)->recording = new std::vector<Work>;
    streamOf(stream)->isJoined = false;
    return Ok;
}
API cuStreamEndCapture(void *stream, void **graph) {
    Guard g(lock);
    Stream *s = streamOf(stream);
    if (!s->recording || s->isJoined) return fail(901, "cuStreamEndCapture of a stream that is not capturing");
    bool isOpen = false;
    for (Stream *other : streams) {
        if (other == s || other->recording != s->recording) continue;
        isOpen |= other->met < other->recorded;
        other->recording = nullptr;
    }
    *graph = s->recording;
    s->recording = nullptr;
    return isOpen ? fail(904, "cuStreamEndCapture: a stream that has joined has work that nothing waits for") : Ok;
}
API cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long) {
    Guard g(lock);
    return *exec = new std::vector<Work>(*(std::vector<Work> *)graph), Ok;
}
API cuGraphLaunch(void *exec, void *stream) {
    Guard g(lock);
    for (const Work &work : *(std::vector<Work> *)exec)
        if (int status = queue(stream, work)) return status;
    return Ok;
}
API cuGraphDestroy(void *graph) { return delete (std::vector<Work> *)graph, Ok; }
API cuGraphExecDestroy(void *exec) { return delete (std::vector<Work> *)exec, Ok; }

API cuModuleLoadData(void **module, const char *ptx) {
    Guard g(lock);
    Module *m = new Module;
    for (const char *at = ptx; (at = strstr(at, ".entry ")); ) {
        at += strlen(".entry ");
        m->names.insert(std::string(at, strcspn(at, "( \t\n")));
    }
    return *module = m, Ok;
}
API cuModuleUnload(void *module) {
    Module *m = (Module *)module;
    for (auto &f : m->functions) delete f.second;
    return delete m, Ok;
}
API cuModuleGetFunction(void **function, void *module, const char *name) {
    Guard g(lock);
    Module *m = (Module *)module;
    if (!m->names.count(name)) return said = "named symbol not found", NotFound;
    auto k = kernels().find(name);
    if (k == kernels().end()) return fail(NotFound, "PTX has %s, the sources have not", name);
    Function *&f = m->functions[name];
    if (!f) f = new Function{&k->second, 48 << 10};
    return *function = f, Ok;
}
API cuFuncSetAttribute(void *function, int attribute, int value) {
    Guard g(lock);
    if (attribute != 8) return Ok;
    if (value > mostShared) return fail(InvalidValue, "%d bytes of shared memory", value);
    return ((Function *)function)->shared = value, Ok;
}
API cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned sharedBytes, void *stream, void **args, void **) {
    Guard g(lock);
    Function *f = (Function *)function;
    const char *name = f->kernel->name;
    if (!gx || !gy || !gz || gx > 2147483647u || gy > 65535 || gz > 65535)
        return fail(InvalidValue, "kernel %s: grid %u x %u x %u", name, gx, gy, gz);
    if (!bx || !by || !bz || bx > 1024 || by > 1024 || bz > 64 || bx * by * bz > 1024)
        return fail(InvalidValue, "kernel %s: block %u x %u x %u", name, bx, by, bz);
    if ((int)sharedBytes > f->shared)
        return fail(InvalidValue, "kernel %s: %u bytes of shared memory", name, sharedBytes);
    std::vector<std::vector<char>> values;
    for (size_t i = 0; i < f->kernel->sizes.size(); i++)
        values.emplace_back((char *)args[i], (char *)args[i] + f->kernel->sizes[i]);
    Three grid = {gx, gy, gz}, block = {bx, by, bz};
    return queue(stream, [=] { return launch(f, grid, block, sharedBytes, values); });
}
