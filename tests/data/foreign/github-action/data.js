window.BENCHMARK_DATA = {
  "lastUpdate": 1767225600000,
  "repoUrl": "https://github.com/example/kernel",
  "entries": {
    "lmbench-ctxsw": [
      {
        "commit": {"author": {"name": "A"}, "id": "6049485aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "message": "one", "timestamp": "2026-01-01T00:00:00Z"},
        "date": 1767225600000,
        "tool": "customSmallerIsBetter",
        "benches": [
          {"name": "Average context switch latency on Linux", "value": "1.2", "unit": "µs", "extra": "linux_result"},
          {"name": "Average context switch latency on Asterinas", "value": "1.5", "unit": "µs", "range": "± 0.1", "extra": "aster_result"}
        ]
      },
      {
        "commit": {"id": "7049485bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},
        "date": 1767312000000,
        "tool": "customSmallerIsBetter",
        "benches": [
          {"name": "Average context switch latency on Linux", "value": "1.19", "unit": "µs", "extra": "linux_result"},
          {"name": "Average context switch latency on Asterinas", "value": "n/a", "unit": "µs", "extra": "aster_result"}
        ]
      }
    ],
    "rates": [
      {"commit": {"id": "6049485"}, "date": 1767225600000, "tool": "customBiggerIsBetter",
       "benches": [{"name": "pipe", "value": 3100.5, "unit": "MB/s", "range": "2%"}]}
    ]
  }
}
