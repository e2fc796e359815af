package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// emulator is a network whose packets a thread of this process carries between TUN devices.
type emulator struct {
	network *network
	devices []int // TUN descriptors by host
	wake    int   // event that ends the thread
	start   time.Time
	spare   [][]byte // packets to be used again, each of the MTU
	mtu     int
	polled  []unix.PollFd
	done    chan error // receives the error with which the thread ended; nil while no thread runs
}

const tunPath = "/dev/net/tun"

// newEmulator gives each host a TUN device and starts the thread.
func newEmulator(c Config, hosts []host) (_ *emulator, err error) {
	e := &emulator{network: newNetwork(c), wake: -1, mtu: c.mtu()}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if e.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	for _, h := range hosts {
		if err := e.join(h); err != nil {
			return nil, fmt.Errorf("%s: %w", h.name, err)
		}
	}
	e.start, e.done = time.Now(), make(chan error, 1)
	go func() { e.done <- onThread(e.run) }()
	return e, nil
}

// join gives a host its device.
func (e *emulator) join(h host) error {
	device := -1
	err := h.space.do(func() (err error) {
		device, err = openTUN()
		return err
	})
	if err != nil {
		return err
	}
	e.devices = append(e.devices, device)
	n, err := openNetlink(h.space)
	if err != nil {
		return err
	}
	defer n.close()
	if err := n.raise(hostIndex, e.mtu); err != nil {
		return fmt.Errorf("raise the TUN device: %w", err)
	}
	return n.addressHost(h.address)
}

// openTUN creates the interface of a host in the thread's namespace: one descriptor, a packet per call.
func openTUN() (int, error) {
	fd, err := unix.Open(tunPath, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, missing("open "+tunPath, err, "let the user read and write it (chmod 0666 "+tunPath+
			"), or load its module (modprobe tun)")
	}
	request, err := unix.NewIfreq(hostInterface)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TUNSETIFINDEX, hostIndex)
	}
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		unix.Close(fd)
		return -1, missing("create a TUN device", err, hint)
	}
	return fd, nil
}

// run carries packets until it is woken.
func (e *emulator) run() error {
	// Ask for exact timers and priority over computing processes. A refusal only costs accuracy.
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -20)
	for {
		e.deliver()
		for host := range e.devices {
			if err := e.take(host); err != nil {
				return err
			}
		}
		if stop, err := e.sleep(); stop || err != nil {
			return err
		}
	}
}

func (e *emulator) now() time.Duration { return time.Since(e.start) }

// deliver writes the packets that are due to their hosts. A packet that a host does not take is lost.
func (e *emulator) deliver() {
	now := e.now()
	for {
		p, arrives, ok := e.network.next(now)
		if !ok {
			return
		}
		if arrives {
			if _, err := unix.Write(e.devices[p.to], p.data); err != nil {
				e.network.links[p.to].Lost++
			}
		}
		e.release(p.data)
	}
}

// atOnce is the number of packets taken from a host before the next host has its turn.
const atOnce = 16

// take sends the packets of a host while its link accepts more.
func (e *emulator) take(host int) error {
	for range atOnce {
		now := e.now()
		if !e.network.isReady(now, host) {
			return nil
		}
		data := e.buffer()
		size, err := unix.Read(e.devices[host], data)
		if err != nil {
			e.release(data)
			if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
				return nil
			}
			return fmt.Errorf("lab: read from the device of host %d: %w", host, err)
		}
		to, ok := e.receiver(data[:size])
		if !ok || !e.network.send(now, packet{data: data[:size], from: host, to: to}) {
			e.release(data)
		}
	}
	return nil
}

// receiver returns the destination of a packet. Packets without one, such as multicast, are dropped.
func (e *emulator) receiver(data []byte) (host int, ok bool) {
	const version4, headerSize, destination = 4, 20, 16
	if len(data) < headerSize || data[0]>>4 != version4 || [3]byte(data[destination:]) != subnet {
		return 0, false
	}
	host = int(data[destination+3]) - firstAddress
	return host, host >= 0 && host < len(e.devices)
}

// buffer returns room for a packet.
func (e *emulator) buffer() []byte {
	if last := len(e.spare) - 1; last >= 0 {
		data := e.spare[last]
		e.spare = e.spare[:last]
		return data
	}
	return make([]byte, e.mtu)
}

func (e *emulator) release(data []byte) { e.spare = append(e.spare, data[:e.mtu]) }

// sleep waits until there is something to do, and reports whether the thread shall stop.
func (e *emulator) sleep() (stop bool, err error) {
	now := e.now()
	wait, isTimed := e.network.wait(now)
	e.polled = append(e.polled[:0], unix.PollFd{Fd: int32(e.wake), Events: unix.POLLIN})
	for host, fd := range e.devices {
		if up := e.network.links[host].up.wait(now); up < ahead {
			e.polled = append(e.polled, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		} else if up -= ahead / 2; !isTimed || up < wait {
			wait, isTimed = up, true
		}
	}
	var timeout *unix.Timespec
	if isTimed {
		t := unix.NsecToTimespec(int64(wait))
		timeout = &t
	}
	_, err = unix.Ppoll(e.polled, timeout, nil)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return false, os.NewSyscallError("ppoll", err)
	}
	return e.polled[0].Revents != 0, nil
}

// finish ends the thread and returns the counters of the links.
func (e *emulator) finish() ([]Counts, error) {
	if err := e.stop(); err != nil {
		return nil, err
	}
	counts := make([]Counts, len(e.devices))
	for i := range counts {
		counts[i] = e.network.links[i].Counts
	}
	return counts, nil
}

// stop ends the thread, if it runs, and returns the error if it had failed before.
func (e *emulator) stop() error {
	if e.done == nil {
		return nil
	}
	one := binary.NativeEndian.AppendUint64(nil, 1)
	unix.Write(e.wake, one) // fails only if the counter is full, so the thread wakes anyway
	err := <-e.done
	e.done = nil
	return err
}

// close ends the thread and removes the devices.
func (e *emulator) close() error {
	failed := []error{e.stop()}
	for _, fd := range append(e.devices, e.wake) {
		if fd >= 0 {
			failed = append(failed, unix.Close(fd))
		}
	}
	return errors.Join(failed...)
}
