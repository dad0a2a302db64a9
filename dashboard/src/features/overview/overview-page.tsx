import "../../app/shared.ts";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";
import { ErrorState, Notice, Skeleton } from "../../ui/states.tsx";
import { OpenAlerts } from "../alerts/open-alerts.tsx";
import { conversationsQuery } from "../conversations/queries.ts";
import { PeriodSelect } from "../statistics/period-select.tsx";
import { statisticsQuery } from "../statistics/queries.ts";
import { Charts } from "./charts.tsx";
import { Figures } from "./figures.tsx";
import { FirstSteps, useFirstSteps } from "./first-steps.tsx";
import { LiveNow } from "./live-now.tsx";

export function OverviewPage() {
  const { days = 30 } = useSearch({ from: "/signed-in/" });
  const navigate = useNavigate({ from: "/" });
  const statistics = useQuery(statisticsQuery({ days }));
  const steps = useFirstSteps();
  // Before the first conversation there is nothing to show but zeros.
  const isNew = steps?.hasConversations === false;
  // Tests of a draft are not counted, so an owner who has only tried an agent would see zeros too.
  const isUncounted =
    isNew || (steps?.steps.some(({ done }) => !done) === true && statistics.data?.total.conversations === 0);
  const others = useQuery({
    ...conversationsQuery({ is_test_call: false }),
    enabled: steps !== null && !isNew && statistics.data?.total.conversations === 0,
  });
  const hasOnlyTests = others.data?.total === 0;
  return (
    <Page
      title="Overview"
      heading={isNew ? "Welcome to Parley" : undefined}
      description={
        isNew
          ? "Create an agent and talk to it. It takes a few minutes."
          : "What your agents did, how fast they replied, and what is going on now. Days are in UTC."
      }
      actions={
        !isUncounted && (
          <PeriodSelect
            days={days}
            onChange={(next) => navigate({ search: next === 30 ? {} : { days: next }, replace: true })}
          />
        )
      }
    >
      <OpenAlerts />
      {steps && <FirstSteps steps={steps.steps} />}
      {hasOnlyTests && (
        <Notice>
          There are only tests so far. They are listed under{" "}
          <Link to="/conversations" search={{ is_test_call: true }} className="underline">
            Conversations
          </Link>
          , but not counted here.
        </Notice>
      )}
      {isUncounted ? null : statistics.isPending ? (
        <div role="status" aria-label="Loading" className="flex flex-col gap-6">
          <Skeleton className="h-24" />
          <Skeleton className="h-72" />
        </div>
      ) : statistics.isLoadingError ? (
        <ErrorState error={statistics.error} onRetry={statistics.refetch} />
      ) : (
        <>
          <Figures total={statistics.data.total} />
          <Charts days={statistics.data.days} />
        </>
      )}
      {!isUncounted && <LiveNow />}
    </Page>
  );
}
