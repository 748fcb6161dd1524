"""Text -> Diagnosis: one failure known by language and type, not by string."""
