/** Preloaded into a process, it has its clock show another time: by WRONG_BY_MS. */
const wrongByMs = Number(process.env.WRONG_BY_MS);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [RealDate.now() + wrongByMs] : given) as [number]));
  }

  static override now(): number {
    return RealDate.now() + wrongByMs;
  }
} as DateConstructor;
