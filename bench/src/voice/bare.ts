/** The floor: what a caller sends is sent back, at a pace of its own of 20 ms and without anything else that a call needs. */
const FRAME_MS = 20;
/** A caller that has been silent for this long has left. */
const LEFT_AFTER_MS = 1_000;

interface Stream {
  newest: Buffer;
  heardAt: number;
  sequence: number;
}

const streams = new Map<string, Stream>();

await Bun.udpSocket({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  socket: {
    data: (socket, bytes, port, address) => {
      const key = `${address}:${port}`;
      const known = streams.get(key);
      const stream = Object.assign(known ?? { sequence: 0 }, {
        newest: Buffer.from(bytes),
        heardAt: performance.now(),
      });
      if (known) return;
      streams.set(key, stream);
      pace(() => {
        if (performance.now() - stream.heardAt > LEFT_AFTER_MS) {
          streams.delete(key);
          return false;
        }
        try {
          socket.send(numbered(stream), port, address);
        } catch {
          // The caller has left.
        }
        return true;
      });
    },
    error: () => {},
  },
});

/** An RTP packet with our own sequence number. */
function numbered(stream: Stream): Buffer {
  stream.newest.writeUInt16BE(stream.sequence++ & 0xffff, 2);
  return stream.newest;
}

/** Goes on while `send` says so; by the clock, so that delays do not add up. */
function pace(send: () => boolean): void {
  let due = performance.now();
  const next = () => {
    if (!send()) return;
    due += FRAME_MS;
    setTimeout(next, Math.max(0, due - performance.now()));
  };
  next();
}

export {};
