"""The server under the views: application, guard, workers and jobs."""
