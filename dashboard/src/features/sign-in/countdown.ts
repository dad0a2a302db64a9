import { useEffect, useState } from "react";

/** The seconds that are left, and a function that starts the countdown. */
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
