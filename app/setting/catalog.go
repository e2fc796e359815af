package setting

import (
	"lockstep/data"
	"lockstep/model"
)

// Catalog has the networks and data sets that a program knows by name. A nil *Catalog has those that
// come with Lockstep.
type Catalog struct {
	Models model.Catalog
	Data   data.Catalog
}

// Models returns the networks that the run's program knows by name.
func (c Config) Models() model.Catalog { return c.Catalog.models() }

// Datasets returns the data sets that the run's program knows by name.
func (c Config) Datasets() data.Catalog { return c.Catalog.data() }

// WithoutDropout returns a catalog of the same names whose networks have no dropout.
func (k *Catalog) WithoutDropout() *Catalog {
	return &Catalog{Models: k.models().WithoutDropout(), Data: k.data()}
}

func (k *Catalog) models() model.Catalog {
	if k == nil {
		return model.Catalog{}
	}
	return k.Models
}

func (k *Catalog) data() data.Catalog {
	if k == nil {
		return data.Catalog{}
	}
	return k.Data
}
