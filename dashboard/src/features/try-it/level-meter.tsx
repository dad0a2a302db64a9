import { useEffect, useRef } from "react";

/** Samples of each measurement: about 10 ms. */
const SAMPLES = 512;
/** Speech is far from full scale, so that the bar would hardly move. */
const GAIN = 4;

/** How loud the sound is that the page sends, so that people see whether their microphone works. */
export function LevelMeter({ sound }: { sound: MediaStream }) {
  const meter = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const context = new AudioContext();
    const analyser = new AnalyserNode(context, { fftSize: SAMPLES });
    context.createMediaStreamSource(sound).connect(analyser);
    const samples = new Float32Array(SAMPLES);
    let frame = 0;
    const show = () => {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / SAMPLES;
      const percent = Math.round(Math.min(1, GAIN * Math.sqrt(power)) * 100);
      // React need not render sixty times a second.
      if (bar.current) bar.current.style.transform = `scaleX(${percent / 100})`;
      meter.current?.setAttribute("aria-valuenow", String(percent));
      frame = requestAnimationFrame(show);
    };
    show();
    return () => {
      cancelAnimationFrame(frame);
      void context.close();
    };
  }, [sound]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers draw a <meter> each in their own way
    <div
      ref={meter}
      role="meter"
      aria-label="Microphone level"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={0}
      className="h-1.5 min-w-0 flex-1 overflow-hidden rounded-full bg-line"
    >
      <div ref={bar} className="h-full origin-left scale-x-0 rounded-full bg-accent" />
    </div>
  );
}
