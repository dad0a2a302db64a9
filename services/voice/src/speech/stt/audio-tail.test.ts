import { expect, test } from "bun:test";
import fc from "fast-check";
import { audioTail } from "./audio-tail.ts";

test("whatever was pushed and forgotten, the tail has the newest samples at their positions", () => {
  const steps = fc.array(fc.tuple(fc.nat(30), fc.nat(200)), { maxLength: 30 });
  fc.assert(
    fc.property(steps, fc.nat(300), (given, wanted) => {
      const tail = audioTail(100);
      const all: number[] = [];
      let forgotten = 0;
      for (const [length, forget] of given) {
        const audio = Int16Array.from({ length }, (_, at) => all.length + at);
        all.push(...audio);
        tail.push(audio);
        forgotten = Math.max(forgotten, Math.min(forget, all.length));
        tail.forget(forgotten);
      }
      const { audio, position } = tail.from(wanted);
      expect(tail.end()).toBe(all.length);
      expect([...audio]).toEqual(all.slice(position));
      const needed = Math.max(wanted, forgotten, all.length - 100);
      if (wanted <= all.length) expect(position).toBeLessThanOrEqual(needed + 30);
      if (wanted >= forgotten && wanted >= all.length - 70 && wanted <= all.length) expect(position).toBe(wanted);
      expect(audio.length).toBeLessThanOrEqual(130);
    }),
  );
});
