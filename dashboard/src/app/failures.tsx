import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { Problem } from "../api/problem.ts";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { EmptyState, ErrorState, LoadingRows, Skeleton } from "../ui/states.tsx";

/** The page's scripts did not load, or failed: the browser's console has the error. */
const NOT_SHOWN = "This page could not be shown. Check your connection, then try again.";

/** Shown instead of a page that failed. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const isRefusal = error instanceof Problem;
  const retry = () => {
    if (!isRefusal) return location.reload();
    reset();
    return router.invalidate();
  };
  return (
    <Page title="Something went wrong">
      <ErrorState error={isRefusal ? error : new Error(NOT_SHOWN)} onRetry={retry} />
    </Page>
  );
}

export function PageNotFound() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon={Compass}
        title="This page does not exist"
        action={
          <Button asChild>
            <Link to="/">Go to Overview</Link>
          </Button>
        }
      >
        The link may be outdated, or the address may have a typo.
      </EmptyState>
    </Page>
  );
}

type Thing = "agent" | "conversation" | "knowledge base" | "prompt" | "tool" | "webhook";

/** Shown instead of a thing that does not exist. @param all the list of such things, or of those that it is a part of */
export function NotFound({
  what,
  of = what as Thing,
  all,
}: {
  what: Thing | "replay" | "run" | "test";
  of?: Thing;
  all: "/agents" | "/conversations" | "/knowledge" | "/prompts" | "/tools" | "/webhooks";
}) {
  return (
    <Page title={`${what.charAt(0).toUpperCase()}${what.slice(1)} not found`}>
      <EmptyState
        icon={Compass}
        title={`This ${what} does not exist`}
        action={
          <Button asChild>
            <Link to={all} search={{}}>
              All {of}s
            </Link>
          </Button>
        }
      >
        It may have been deleted, or the address may have a typo.
      </EmptyState>
    </Page>
  );
}

/** Whether the API answered that something does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Problem && error.status === 404;
}

/** Shown until a page's script has loaded. */
export function PagePending() {
  return (
    <div className="mx-auto w-full max-w-6xl px-4 py-6 sm:px-8 sm:py-8">
      <Skeleton className="mb-6 h-7 w-48" />
      <LoadingRows />
    </div>
  );
}
