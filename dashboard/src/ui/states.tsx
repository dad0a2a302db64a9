import { CircleAlert, type LucideIcon } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { sentenceOf } from "../api/problem.ts";
import { Button } from "./button.tsx";

/** Shown in place of an empty list: what it is for, and how to get the first one. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center rounded-xl border border-dashed border-line px-6 py-14 text-center">
      <div className="mb-4 flex size-11 items-center justify-center rounded-full bg-accent-soft text-accent-ink">
        <Icon className="size-5" aria-hidden />
      </div>
      <h2 className="text-[0.9375rem] font-semibold">{title}</h2>
      {children && <div className="mt-1.5 max-w-md text-balance text-muted">{children}</div>}
      {action && <div className="mt-5 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** Says that something could not be read, with a way to try again. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => unknown }) {
  const [isTrying, setTrying] = useState(false);
  const retry = async () => {
    setTrying(true);
    try {
      await onRetry?.();
    } finally {
      setTrying(false);
    }
  };
  return (
    <div role="alert" className="flex flex-col items-center rounded-xl border border-line px-6 py-12 text-center">
      <CircleAlert className="mb-3 size-6 text-danger-ink" aria-hidden />
      <p className="max-w-lg break-words">{sentenceOf(error)}</p>
      {onRetry && (
        <Button className="mt-4" busy={isTrying} onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** A placeholder for content that is loading. @param className its size */
export function Skeleton({ className = "h-4 w-full" }: { className?: string }) {
  return <div className={`motion-safe:animate-pulse rounded-md bg-hover ${className}`} />;
}

/** After so many milliseconds, a page says that it still waits. */
const STILL_MS = 3_000;

/** Lines of a list that is being read. */
export function LoadingRows({ rows = 6 }: { rows?: number }) {
  const [isStill, setStill] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setStill(true), STILL_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-3 rounded-xl border border-line p-5">
      {isStill && <p className="text-muted">Still loading: the server takes longer than usual.</p>}
      {Array.from({ length: rows }, (_, at) => (
        <Skeleton key={at} className="h-6 w-full" />
      ))}
    </div>
  );
}

/** An inline message about the form above or below it. */
export function Notice({ tone = "neutral", children }: { tone?: keyof typeof NOTICE_TONES; children: ReactNode }) {
  return (
    <div role={tone === "danger" ? "alert" : "status"} className={`rounded-lg px-3.5 py-2.5 ${NOTICE_TONES[tone]}`}>
      {children}
    </div>
  );
}

const NOTICE_TONES = {
  neutral: "bg-hover text-ink",
  accent: "bg-accent-soft text-accent-ink",
  success: "bg-success-soft text-success-ink",
  warning: "bg-warning-soft text-warning-ink",
  danger: "bg-danger-soft text-danger-ink",
} as const;
