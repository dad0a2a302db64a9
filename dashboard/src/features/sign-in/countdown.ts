import { useEffect, useState } from "react";

/** Seconds that are left, 0 when none are, and a function that starts from some. */
export function useCountdown(): [number, (seconds: number) => void] {
  const [secondsLeft, setSecondsLeft] = useState(0);
  const isCounting = secondsLeft > 0;
  useEffect(() => {
    if (!isCounting) return;
    const timer = setInterval(() => setSecondsLeft((left) => left - 1), 1_000);
    return () => clearInterval(timer);
  }, [isCounting]);
  return [secondsLeft, setSecondsLeft];
}
