import { dlopen, FFIType, type Pointer, ptr } from "bun:ffi";

/**
 * A UDP socket that knows when its packets were on the wire: for those that arrive, the kernel's time, however late this process
 * reads them. Bun's own sockets do not tell. Linux, 64 bits, little-endian.
 */
export interface WireSocket {
  port: number;
  /** Sends at once. @returns when, in milliseconds of the system's clock */
  send(bytes: Uint8Array, to: { address: string; port: number }): number;
  /** Takes what has arrived. */
  receive(take: (bytes: Uint8Array, atMs: number) => void): void;
  close(): void;
}

const { i32, ptr: pointer, u32, u64, i64 } = FFIType;
const { symbols: libc } = dlopen("libc.so.6", {
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, pointer, u32], returns: i32 },
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
  setsockopt: { args: [i32, i32, i32, pointer, u32], returns: i32 },
  recvmmsg: { args: [i32, pointer, u32, i32, pointer], returns: i32 },
  sendto: { args: [i32, pointer, u64, i32, pointer, u32], returns: i64 },
  clock_gettime: { args: [i32, pointer], returns: i32 },
  close: { args: [i32], returns: i32 },
});

// From the kernel's headers.
const AF_INET = 2;
const SOCK_DGRAM = 2;
const SOL_SOCKET = 1;
const SO_TIMESTAMPNS = 35;
const MSG_DONTWAIT = 0x40;
const CLOCK_REALTIME = 0;

const BATCH = 32;
const PACKET_BYTES = 512;
/** A header and a time. */
const CONTROL_BYTES = 32;
/** The size of struct mmsghdr: a message header of 56 bytes, and the length. */
const MESSAGE_BYTES = 64;

/** Binds on loopback. @throws on any other system */
export function openWireSocket(): WireSocket {
  const fd = libc.socket(AF_INET, SOCK_DGRAM, 0);
  const own = addressOf("127.0.0.1", 0);
  const length = Uint32Array.of(own.length);
  const yes = Uint32Array.of(1);
  const isOpen =
    fd >= 0 &&
    libc.bind(fd, ptr(own), own.length) === 0 &&
    libc.getsockname(fd, ptr(own), ptr(length)) === 0 &&
    libc.setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, ptr(yes), 4) === 0;
  if (!isOpen) throw new Error("A socket with the kernel's times cannot be opened: bench voice needs Linux");

  const packets = new Uint8Array(BATCH * PACKET_BYTES);
  const controls = new Uint8Array(BATCH * CONTROL_BYTES);
  const vectors = new BigUint64Array(BATCH * 2);
  const messages = new Uint8Array(BATCH * MESSAGE_BYTES);
  const view = new DataView(messages.buffer);
  const times = new DataView(controls.buffer);
  for (let at = 0; at < BATCH; at++) {
    vectors[2 * at] = addressIn(packets, at * PACKET_BYTES);
    vectors[2 * at + 1] = BigInt(PACKET_BYTES);
  }
  const prepare = (at: number) => {
    const message = at * MESSAGE_BYTES;
    view.setBigUint64(message + 16, addressIn(vectors, at * 16), true);
    view.setBigUint64(message + 24, 1n, true);
    view.setBigUint64(message + 32, addressIn(controls, at * CONTROL_BYTES), true);
    view.setBigUint64(message + 40, BigInt(CONTROL_BYTES), true);
  };
  for (let at = 0; at < BATCH; at++) prepare(at);

  const now = new BigInt64Array(2);
  const peers = new Map<string, Uint8Array>();
  return {
    port: new DataView(own.buffer).getUint16(2),
    send: (bytes, { address, port }) => {
      const key = `${address}:${port}`;
      const peer = peers.get(key) ?? addressOf(address, port);
      peers.set(key, peer);
      libc.clock_gettime(CLOCK_REALTIME, ptr(now));
      libc.sendto(fd, ptr(bytes), bytes.length, MSG_DONTWAIT, ptr(peer), peer.length);
      return milliseconds(now[0] ?? 0n, now[1] ?? 0n);
    },
    receive: (take) => {
      for (let count = BATCH; count === BATCH; ) {
        count = libc.recvmmsg(fd, ptr(messages), BATCH, MSG_DONTWAIT, null);
        for (let at = 0; at < count; at++) {
          const bytes = packets.slice(
            at * PACKET_BYTES,
            at * PACKET_BYTES + view.getUint32(at * MESSAGE_BYTES + 56, true),
          );
          const time = at * CONTROL_BYTES + 16;
          take(bytes, milliseconds(times.getBigInt64(time, true), times.getBigInt64(time + 8, true)));
          // The kernel has overwritten how much it may write.
          prepare(at);
        }
      }
    },
    close: () => void libc.close(fd),
  };
}

function milliseconds(seconds: bigint, nanoseconds: bigint): number {
  return Number(seconds) * 1_000 + Number(nanoseconds) / 1_000_000;
}

function addressIn(array: Uint8Array | BigUint64Array, offset: number): bigint {
  return BigInt(ptr(array) as Pointer as number) + BigInt(offset);
}

/** A struct sockaddr_in. */
function addressOf(address: string, port: number): Uint8Array {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint16(0, AF_INET, true);
  new DataView(bytes.buffer).setUint16(2, port);
  bytes.set(address.split(".").map(Number), 4);
  return bytes;
}
